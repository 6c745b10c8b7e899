"""What an author waits for: every file of a folder read, compiled and looked over, from nothing."""

from collections.abc import Iterator
from dataclasses import replace

from bench.figures import Figure
from bench.sizes import Sizes
from bench.timing import repeated
from bench.verbs import BUNDLED, CORPUS
from headway.application.lint_workflows import lint_workflows
from headway.bootstrap import open_workflow_files
from headway.config import Settings

LINT_MS_MAX = 1_500.0


def measure_lint(settings: Settings, sizes: Sizes) -> Iterator[Figure]:
    """Yield how long it takes to lint the recorded files, broken ones included, or the bundled."""
    recorded = (CORPUS, CORPUS.with_name("invalid"))
    folders = tuple(map(str, recorded if CORPUS.is_dir() else (BUNDLED,)))
    given = replace(settings, workflow_path=folders)
    looked_at = 0

    def linted() -> None:
        nonlocal looked_at
        with open_workflow_files(given) as files:
            looked_at = len(lint_workflows(files, str(settings.user_home), folders).files)

    took = repeated(linted, max(2, sizes.repeats // 5))
    assert looked_at
    yield Figure(
        group="other verbs", name="lint, nothing known before", value=took, unit="ms",
        target=LINT_MS_MAX, note=f"{looked_at} files",
    )  # fmt: skip
