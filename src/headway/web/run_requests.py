"""What requests about runs may say: one struct for each, and nothing besides its fields."""

from typing import Final, Literal

import msgspec

from headway.application.submit_run import Limits

LISTED_DEFAULT: Final = 20
LINES_DEFAULT: Final = 200
NOBODY: Final = "http"  # who speaks where the request does not say


class _Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a request may say."""


class LimitsWanted(_Fields, frozen=True):
    """`limits` of a submission: what is left out is as with `headway run`; null is no limit."""

    turns: int | None = Limits().turns
    tokens: int | None = None
    money: int | None = None
    seconds: int | None = Limits().seconds
    on_limit: Literal["park", "end"] = "park"


class GrantWanted(_Fields, frozen=True):
    """`limits` of a resumption: how much more the run may spend."""

    turns: int | None = None
    tokens: int | None = None
    money: int | None = None
    seconds: int | None = None


class SubmitBody(_Fields, frozen=True):
    """The fields of POST /v1/runs."""

    workflow: str
    goal: str
    workspace: str
    model: str
    limits: LimitsWanted = LimitsWanted()
    in_place: bool = False
    stuck: Literal["abort", "notify"] = "abort"
    priority: int = 0
    dedupe: str | None = None


class SteerBody(_Fields, frozen=True):
    """The fields of POST /v1/runs/{id}/steer."""

    text: str
    by: str = NOBODY


class AbortBody(_Fields, frozen=True):
    """The fields of POST /v1/runs/{id}/abort."""

    reason: str = ""
    by: str = NOBODY


class PauseBody(_Fields, frozen=True):
    """The fields of POST /v1/runs/{id}/pause."""

    by: str = NOBODY


class ResumeBody(_Fields, frozen=True):
    """The fields of POST /v1/runs/{id}/resume."""

    by: str = NOBODY
    limits: GrantWanted = GrantWanted()


class RetryBody(_Fields, frozen=True):
    """The fields of POST /v1/runs/{id}/retry."""


class ListQuery(_Fields, frozen=True):
    """The fields of GET /v1/runs."""

    state: str | None = None
    workflow: str | None = None
    workspace: str | None = None
    unfinished: bool = False
    limit: int = LISTED_DEFAULT


class ShowQuery(_Fields, frozen=True):
    """The fields of GET /v1/runs/{id}."""


class EventsQuery(_Fields, frozen=True):
    """The fields of GET /v1/runs/{id}/events."""

    after: int = 0
    limit: int = LINES_DEFAULT
    texts: bool = False
