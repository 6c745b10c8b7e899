"""Record checks: what the engine's own runner saw, for the attempt it ran them for (D14).

What a check printed is kept as a blob, whole up to a limit and then its beginning and end; the
digest recorded is that of the bytes kept, so the proof can be looked at.
"""

from typing import Final

from msgspec.structs import replace

from headway.application.engine import Engine
from headway.application.loading import Loaded, open_allowed
from headway.application.recording import record
from headway.application.requests import CheckRun, RecordChecks, Reply
from headway.application.settling import settle
from headway.domain.blocking import said_at_last
from headway.domain.commands import Facts
from headway.domain.commands import RecordChecks as Command
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.errors import InvalidInput
from headway.domain.events import CheckResult
from headway.domain.ids import digest
from headway.ports.ledger import Blob

CHECK_OUTPUT_BYTES_MAX: Final = 262_144
EXIT_CODE_MAX: Final = 2**32 - 1  # Windows' are unsigned, a signal's are negative
DURATION_MS_MAX: Final = 2**53


def record_checks(engine: Engine, request: RecordChecks) -> Reply:
    """Record the results; handed in again, the later ones count, all of them.

    Raises TokenFault, InvalidInput for a check the step does not declare or a result that cannot
    be, PreconditionFailed for an attempt that has ended.
    """
    for run in request.runs:
        _check(run)
    admitted = open_allowed(engine, request.continue_token, frozenset({"ct"}))
    return settle(engine, admitted, lambda loaded: _told(engine, loaded, request))


def kept_output(output: bytes) -> bytes:
    """Return what is kept of a check's output: all of it, or its two ends with a mark between."""
    if len(output) <= CHECK_OUTPUT_BYTES_MAX:
        return output
    mark = f"\n[... {len(output)} bytes in all, cut here ...]\n".encode()
    room = CHECK_OUTPUT_BYTES_MAX - len(mark)
    # Most of what explains a failure stands at the end.
    first = room // 4
    return output[:first] + mark + output[len(output) - (room - first) :]


def record_runs(
    engine: Engine, loaded: Loaded, runs: tuple[CheckRun, ...]
) -> tuple[CheckResult, ...]:
    """Record what runs of a step's checks gave. Raises InvalidInput, PreconditionFailed."""
    scene, results, blobs = loaded.scene, [], []
    for run in runs:
        data = kept_output(run.output)
        ran = run.exit_code is not None
        if ran:
            blobs.append(Blob(digest=digest(data), data=data))
        result = CheckResult(
            check=run.check,
            exit_code=run.exit_code,
            output_digest=digest(data) if ran else None,
            duration_ms=run.duration_ms,
            problem=run.problem,
        )
        results.append(replace(result, said=said_at_last(data)) if result.failed else result)
    command = Command(attempt=loaded.row.attempt, results=tuple(results))
    decision = decide(scene.state, command, Facts(workflow=scene.workflow))
    assert isinstance(decision, Accepted)
    record(engine, scene, decision, tuple(blobs))
    return command.results


def _told(engine: Engine, loaded: Loaded, request: RecordChecks) -> Reply:
    results = record_runs(engine, loaded, request.runs)
    return {
        "sessionId": loaded.scene.session,
        "results": [
            {
                "check": result.check,
                "exitCode": result.exit_code,
                "outputDigest": result.output_digest,
                "durationMs": result.duration_ms,
            }
            for result in results
        ],
    }


def _check(run: CheckRun) -> None:
    sound = run.exit_code is None or abs(run.exit_code) <= EXIT_CODE_MAX
    if sound and 0 <= run.duration_ms <= DURATION_MS_MAX:
        return
    raise InvalidInput(
        f"The result of check {run.check!r} has an exit code or a duration that cannot be.",
        remedy="Send the exit code as the system gave it and a duration in milliseconds from 0.",
        details={"kind": "check_results"},
    )
