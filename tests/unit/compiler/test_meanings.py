"""Every key, operator and rule of the language is explained, and nothing that is not in it."""

from typing import get_args

from headway.domain.compiler.conditions import OPERATORS
from headway.domain.compiler.criteria import NEEDED
from headway.domain.compiler.grammar import RULE, WORKFLOW
from headway.domain.compiler.meanings import MEANINGS, OPERATOR_MEANINGS, RULE_MEANINGS
from headway.domain.compiler.records import records_of
from headway.domain.workflow import Operator


def test_every_key_of_every_record_has_a_meaning() -> None:
    keys = {
        record.name: [*record.required, *record.optional]
        for record in (*records_of(WORKFLOW), *records_of(RULE))
    }
    assert {name: sorted(found) for name, found in MEANINGS.items()} == {
        name: sorted(found) for name, found in keys.items()
    }


def test_every_operator_and_every_rule_has_one() -> None:
    assert list(OPERATOR_MEANINGS) == list(OPERATORS)
    assert {*OPERATOR_MEANINGS, "truthy"} == {*get_args(Operator)}
    assert list(RULE_MEANINGS) == list(NEEDED)


def test_a_meaning_is_a_sentence() -> None:
    texts = [text for meanings in MEANINGS.values() for text in meanings.values()]
    texts += [*OPERATOR_MEANINGS.values(), *RULE_MEANINGS.values()]
    assert [text for text in texts if not text.endswith(".")] == []
