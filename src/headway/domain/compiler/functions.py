"""Functions: reading their definitions, and holding calls and references against them."""

from typing import Final, Literal

from headway.domain.compiler.nodes import flag, items, record, records, text, texts
from headway.domain.compiler.reporting import Report, did_you_mean, kind_of, listed, shown
from headway.domain.diagnostics import Path
from headway.domain.values import Json, JsonObject
from headway.domain.workflow import Function, FunctionCall, Parameter

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def functions_at(
    node: JsonObject, scope: Literal["workflow", "loop", "step"]
) -> tuple[Function, ...]:
    """Return the functions an object defines."""
    return tuple(
        Function(
            name=text(each, "name"),
            definition=text(each, "definition"),
            scope=scope,
            parameters=tuple(_parameter(inner) for _, inner in records(each, "parameters")),
        )
        for _, each in records(node, "functionDefinitions")
    )


def references_at(
    node: JsonObject, path: Path, visible: tuple[Function, ...], report: Report
) -> tuple[str, ...]:
    """Return the bare names a step refers to, each once."""
    names = []
    known = [function.name for function in visible]
    for index, reference in enumerate(texts(node, "functionReferences")):
        name = reference.removesuffix("()")
        names.append(name)
        if name not in known:
            report.add(
                "UNKNOWN_FUNCTION_REFERENCE", (*path, "functionReferences", index),
                f"No function {shown(name)} is visible here.",
                did_you_mean(name, known, f"Define it; visible are {listed(known)}."),
            )  # fmt: skip
    return tuple(dict.fromkeys(names))


def calls_at(
    node: JsonObject, path: Path, visible: tuple[Function, ...], report: Report
) -> tuple[FunctionCall, ...]:
    """Return the calls a step declares, each checked against its function."""
    calls = []
    known: dict[str, Function] = {}
    for function in visible:
        known.setdefault(function.name, function)
    for index, each in records(node, "functionCalls"):
        name, args = text(each, "name"), record(each, "args")
        here = (*path, "functionCalls", index)
        calls.append(FunctionCall(name=name, args=dict(args)))
        called = known.get(name)
        if called:
            _check_args(called, args, (*here, "args"), report)
        elif name:
            report.add(
                "UNKNOWN_FUNCTION", (*here, "name"), f"No function {shown(name)} is visible here.",
                did_you_mean(name, known, f"Define it; visible are {listed(known)}."),
            )  # fmt: skip
    return tuple(calls)


def _parameter(node: JsonObject) -> Parameter:
    kind = node.get("type")
    return Parameter(
        name=text(node, "name"),
        type=kind if kind in ("number", "boolean", "array", "object") else "string",
        required=flag(node, "required"),
        description=text(node, "description"),
        enum=tuple(items(node, "enum")),
        default=node.get("default"),
    )


def _check_args(function: Function, args: JsonObject, path: Path, report: Report) -> None:
    parameters = {parameter.name: parameter for parameter in function.parameters}
    for name, parameter in parameters.items():
        if parameter.required and parameter.default is None and name not in args:
            report.add(
                "FUNCTION_ARG_MISSING", path, f"{function.name} needs {shown(name)}.",
                f"Add {shown(name)}: a value of type {parameter.type}.",
            )  # fmt: skip
    for name, value in args.items():
        if name in parameters:
            _check_arg(parameters[name], value, (*path, name), report)
        else:
            report.add(
                "FUNCTION_ARG_UNKNOWN", (*path, name),
                f"{function.name} has no parameter {shown(name)}.",
                did_you_mean(name, parameters, f"Its parameters are {listed(parameters)}."),
                at_key=True,
            )  # fmt: skip


def _check_arg(parameter: Parameter, value: Json, path: Path, report: Report) -> None:
    fits = isinstance(value, _TYPES[parameter.type])
    if not fits or (isinstance(value, bool) and parameter.type != "boolean"):
        report.add(
            "FUNCTION_ARG_TYPE", path, f"{parameter.name} is {kind_of(value)}: {shown(value)}.",
            f"Give it a value of type {parameter.type}.",
        )  # fmt: skip
    elif parameter.enum and not _is_among(value, parameter.enum):
        allowed = listed(shown(each) for each in parameter.enum)
        report.add(
            "FUNCTION_ARG_VALUE", path, f"{parameter.name} is {shown(value)}.",
            f"Choose one of {allowed}.",
        )  # fmt: skip


def _is_among(value: Json, allowed: tuple[Json, ...]) -> bool:
    return any(
        each == value and isinstance(each, bool) == isinstance(value, bool) for each in allowed
    )
