"""The reference page of every code, written from the registry so that it cannot fall behind."""

from typing import Final

from headway.domain.linting.registry import ALL_CODES, Known
from headway.domain.staleness import SPEC_VERSION, STAMP_KEY

_INTRODUCTION: Final = f"""\
# What `headway workflows lint` reports

This page is printed by `headway workflows rules`. It describes version {SPEC_VERSION} of the rules,
the number that `headway workflows lint --stamp` writes into a file as `{STAMP_KEY}`.

An **error** keeps a workflow from being started. A **warning** is a likely mistake, an **info** a
matter of craft; neither stands in the way of a start. Errors and some warnings come from the
compiler; the linter's rules speak of files that compile.

## Allowing a finding

A finding that is right but not to be mended is allowed in the file, with the reason. At the root it
is allowed in the whole file, on a step or loop inside that one. It works in YAML and JSON alike and
changes nothing that runs:

```yaml
lint:
  allow:
    LOOP_LIMIT_HIGH: There are up to 300 files, each a pass of seconds.
```

An error cannot be allowed, and an allowance that hides nothing is reported.
"""


def rules_page() -> str:
    """Return the page as Markdown."""
    ruled = [known for known in ALL_CODES if known.title]
    parts = [_INTRODUCTION, f"## The linter's {len(ruled)} rules\n"]
    parts += [_rule(known) for known in ruled]
    parts.append(
        "## The compiler's codes\n\n| code | severity | the rule behind it |\n|---|---|---|"
    )
    text = "\n".join(parts)
    rows = (
        f"| `{each.code}` | {each.severity} | {each.why} |" for each in ALL_CODES if not each.title
    )
    return "\n".join([text, *rows]) + "\n"


def help_text(known: Known) -> str:
    """Return what is to be known of a code, in one paragraph."""
    return f"{known.why} {known.remedy}".strip()


def _rule(known: Known) -> str:
    return (
        f"### {known.code}\n\n*{known.severity}* - **{known.title}.** {known.why}\n\n"
        f"To do: {known.remedy}\n"
    )
