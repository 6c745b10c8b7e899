"""The page on runs over HTTP names every request there is, with every field it takes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest

from headway.application.run_verbs import RunVerbs
from headway.web import run_requests
from headway.web.runs import RunDoors

PAGE: Final = (Path(__file__).parents[2] / "docs" / "reference" / "http-runs.md").read_text("utf-8")
NAMED: Final = re.compile(r"The fields of ((?:GET|POST) \S+)\.")


def documented() -> Iterator[tuple[str, str, str]]:
    """Yield request, field and meaning of each row of the page's table of fields."""
    table = PAGE.partition("## What a request may say")[2].partition("##")[0]
    request = ""
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[1].startswith("`"):
            request = cells[0].strip("`") or request
            yield request, cells[1].strip("`"), cells[2]


def requests() -> dict[str, type[msgspec.Struct]]:
    """Return what each request may say, by the request it says it is of."""
    found = {}
    for each in vars(run_requests).values():
        named = NAMED.match(each.__doc__ or "") if isinstance(each, type) else None
        if named:
            found[named[1].replace("{id}", "{run}")] = each
    return found


def test_the_page_has_every_request() -> None:
    class Nobody(RunVerbs):
        pass

    doors = RunDoors(Nobody.__new__(Nobody), None)  # type: ignore[arg-type]  # nothing is called
    served = set()
    for route in doors.routes():
        (method,) = (route.methods or set()) - {"HEAD"}
        served.add(f"{method} {route.path}")
    table = PAGE.partition("## The requests")[2].partition("##")[0]
    told = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    assert told == served
    assert set(requests()) == served


@pytest.mark.parametrize("request_name", requests())
def test_the_page_has_every_field(request_name: str) -> None:
    struct = requests()[request_name]
    told = {field: meaning for name, field, meaning in documented() if name == request_name}
    assert list(told) == [field.encode_name for field in msgspec.structs.fields(struct)]
    for field in msgspec.structs.fields(struct):
        inner = field.type
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            for each in msgspec.structs.fields(inner):
                assert f"`{each.encode_name}`" in told[field.encode_name]
