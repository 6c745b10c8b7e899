"""Every rule of the linter, and every code a diagnostic of a workflow file may carry."""

from typing import Final, NamedTuple

from headway.domain.compiler.codes import CODES
from headway.domain.diagnostics import Severity
from headway.domain.linting import (
    declaration_rules,
    delegation_rules,
    flow_rules,
    loop_rules,
    prompt_rules,
)  # fmt: skip
from headway.domain.linting.allowing import ALLOWANCE_UNUSED
from headway.domain.linting.rules import Rule

RULES: Final[tuple[Rule, ...]] = (
    *flow_rules.RULES,
    *loop_rules.RULES,
    *declaration_rules.RULES,
    *delegation_rules.RULES,
    *prompt_rules.RULES,
    ALLOWANCE_UNUSED,
)


class Known(NamedTuple):
    """What is to be known of a code before it is met; `title` is empty for the compiler's own."""

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str


# The compiler's codes first, then the linter's; what remedies the former depends on the place.
ALL_CODES: Final[tuple[Known, ...]] = (
    *(Known(code, rule.severity, "", rule.why, "") for code, rule in CODES.items()),
    *(Known(rule.code, rule.severity, rule.title, rule.why, rule.remedy) for rule in RULES),
)
