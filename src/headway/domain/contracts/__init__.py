"""Output contracts: the typed artifacts a step may demand, built in or defined by a workflow.

Law: a contract is judged by the first artifact of its kind, strictly, and every problem is named.
"""

from headway.domain.contracts.builtin import BUILTIN_REFS
from headway.domain.contracts.contract import Contract, Invalid, Missing, Satisfied
from headway.domain.contracts.judging import contract_for, judge_contract

__all__ = [
    "BUILTIN_REFS",
    "Contract",
    "Invalid",
    "Missing",
    "Satisfied",
    "contract_for",
    "judge_contract",
]
