"""Hypothesis strategies: texts, JSON values, and every kind of event there is.

Texts hold any character (NUL and astral ones included) and no half ones. The strategy of an event
is made from its declared fields, so a new kind or field is drawn without a change here.
"""

from typing import Any, Final, TypeVar, get_args

import msgspec.inspect as declared
from hypothesis import strategies as st

from headway.domain.events import Event
from headway.domain.values import Json, JsonObject

SAFE_INTEGER_MAX: Final = 2**53 - 1
T = TypeVar("T")

EVENT_KINDS: Final[tuple[type[Event], ...]] = get_args(Event)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
integers = st.integers(-SAFE_INTEGER_MAX, SAFE_INTEGER_MAX)
floats = st.floats(allow_nan=False, allow_infinity=False)

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | integers | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects: st.SearchStrategy[JsonObject] = st.dictionaries(texts, json_values, max_size=3)


_PLAIN: Final[dict[type[declared.Type], st.SearchStrategy[Any]]] = {
    declared.NoneType: st.none(),
    declared.BoolType: st.booleans(),
    declared.IntType: integers,
    declared.StrType: texts,
    declared.AnyType: json_values,
    declared.DictType: json_objects,
}


def of_type(kind: type[T]) -> st.SearchStrategy[T]:
    """Return a strategy for a Value: any value each of its fields may have."""
    return _of(declared.type_info(kind))


def _of(info: declared.Type) -> st.SearchStrategy[Any]:
    match info:
        case declared.LiteralType(values=values):
            return st.sampled_from(values)
        case declared.VarTupleType(item_type=item):
            return st.lists(_of(item), max_size=2).map(tuple)
        case declared.UnionType(types=types):
            return st.one_of([_of(each) for each in types])
        case declared.StructType(cls=cls, fields=fields):
            return st.builds(cls, **{field.name: _of(field.type) for field in fields})
        case _:
            return _PLAIN[type(info)]


events: st.SearchStrategy[Event] = st.one_of([of_type(kind) for kind in EVENT_KINDS])
