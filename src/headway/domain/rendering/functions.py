"""Functions: named blocks of prose a step refers to.

Where a name is defined twice the nearest definition wins: step, then loop, then workflow.
"""

from collections.abc import Iterator

from headway.domain.coercions import to_text
from headway.domain.loops import Around
from headway.domain.workflow import Function, FunctionCall, Step, Workflow


def functions_in_scope(workflow: Workflow, loops: Around, step: Step) -> tuple[Function, ...]:
    """Return every function the step can see, the nearest scope first, each name once."""
    seen: dict[str, Function] = {}
    for function in _visible(workflow, loops, step):
        seen.setdefault(function.name, function)
    return tuple(seen.values())


def render_functions(functions: tuple[Function, ...], step: Step) -> str:
    """Return the prose of the functions a step refers to, and the arguments it calls them with."""
    calls = {call.name: call for call in step.function_calls}
    wanted = dict.fromkeys((*step.function_references, *calls))
    known = {function.name: function for function in functions}
    entries = [
        describe_function(known[name]) + _arguments(calls.get(name))
        for name in wanted
        if name in known
    ]
    return "\n\n".join(["Functions this step refers to:", *entries]) if entries else ""


def describe_function(function: Function) -> str:
    """Return a function's name, parameters and prose."""
    parameters = ", ".join(
        f"{parameter.name}{'' if parameter.required else '?'}: {parameter.type}"
        for parameter in function.parameters
    )
    notes = [
        f"- `{parameter.name}`: {parameter.description}"
        for parameter in function.parameters
        if parameter.description
    ]
    return "\n".join([f"`{function.name}({parameters})`", function.definition, *notes])


def _visible(workflow: Workflow, loops: Around, step: Step) -> Iterator[Function]:
    yield from step.functions
    for loop, _ in reversed(loops):
        yield from loop.functions
    yield from workflow.functions


def _arguments(call: FunctionCall | None) -> str:
    if call is None or not call.args:
        return ""
    given = "; ".join(f"{name} = {to_text(value)}" for name, value in call.args.items())
    return f"\nCall it here with: {given}"
