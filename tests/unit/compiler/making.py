"""Small workflows to compile, made of as little as a test is about."""

import json
from collections.abc import Mapping

from headway.domain.compiler.compiling import Compilation, compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.diagnostics import Diagnostic
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Item, Loop, Step, Workflow

LOOP_CONTROL: JsonObject = {"contractRef": "wr.contracts.loop_control"}


def step(name: str = "one", **more: Json) -> dict[str, Json]:
    """Return a standard step; `prompt` is added unless another source of it is given."""
    given = {"prompt", "promptBlocks", "templateCall"} & more.keys()
    prompt: dict[str, Json] = {} if given else {"prompt": f"Do {name}."}
    return {"id": name, "title": name.title(), **prompt, **more}


def loop(name: str, body: Json, **more: Json) -> dict[str, Json]:
    """Return a `for` loop, or another when its settings are given."""
    settings = more.pop("loop", {"type": "for", "count": 2, "maxIterations": 3})
    return {"id": name, "type": "loop", "title": name, "loop": settings, "body": body, **more}


def parallel(name: str, **more: Json) -> dict[str, Json]:
    delegations = [{"workflowId": "acme.review"}]
    return {
        "id": name,
        "type": "parallel",
        "title": name,
        "parallelDelegations": delegations,
        **more,
    }


def source(*steps: Json, **more: Json) -> dict[str, Json]:
    """Return a workflow as its author writes it."""
    return {
        "id": "acme.sample",
        "name": "Sample",
        "description": "A sample.",
        "version": "1.0.0",
        "steps": list(steps),
        **more,
    }


def text_of(tree: Json) -> bytes:
    return json.dumps(tree, indent=1).encode()


def read(tree: Json, name: str = "sample.json") -> Document:
    document = read_document(text_of(tree), name)
    assert isinstance(document, Document), document
    return document


def compiled(
    tree: Json, routines: Mapping[str, Json] | None = None, **bindings: str
) -> Compilation:
    """Compile a tree as if read from a file, with routines by template id."""
    documents = {name: read(routine, f"{name}.json") for name, routine in (routines or {}).items()}
    return compile_workflow(read(tree), Sources(routines=documents, bindings=bindings))


def workflow(tree: Json, routines: Mapping[str, Json] | None = None, **bindings: str) -> Workflow:
    """Compile a tree that has no errors."""
    compilation = compiled(tree, routines, **bindings)
    assert compilation.workflow is not None, [each.text() for each in compilation.diagnostics]
    return compilation.workflow


def problems(tree: Json, routines: Mapping[str, Json] | None = None) -> list[tuple[str, str]]:
    """Return code and path of every problem of a tree."""
    return [(each.code, each.path) for each in compiled(tree, routines).diagnostics]


def unreadable(text: bytes, name: str = "sample.json") -> Diagnostic:
    """Return the one problem of a text that cannot be read."""
    found = read_document(text, name)
    assert not isinstance(found, Document)
    assert len(found) == 1
    return found[0]


def only_step(flow: Workflow) -> Step:
    (item,) = flow.steps
    assert isinstance(item, Step)
    return item


def as_loop(item: Item) -> Loop:
    assert isinstance(item, Loop)
    return item


def as_step(item: Item) -> Step:
    assert isinstance(item, Step)
    return item
