"""What a workflow declares for its steps to refer to: assessments, contracts, references, slots."""

from typing import Final, Literal

from headway.domain.compiler.criteria import check_schema
from headway.domain.compiler.library import FEATURES
from headway.domain.compiler.nodes import flag, record, records, text, texts
from headway.domain.compiler.reporting import Report, did_you_mean, listed, shown
from headway.domain.compiler.setting import Sources
from headway.domain.contracts.builtin import BUILTIN
from headway.domain.values import JsonObject
from headway.domain.workflow import Assessment, Binding, Dimension, Reference, UserContract

BUILT_IN_CONTRACTS: Final = tuple(contract.ref for contract in BUILTIN)
BUILT_IN_KINDS: Final = tuple(contract.kind for contract in BUILTIN)
RESERVED_PREFIXES: Final = ("wr.contracts", "hw.contracts")


def features_of(root: JsonObject, report: Report) -> tuple[str, ...]:
    """Return the features a workflow asks for that exist."""
    names = texts(root, "features")
    for index, name in enumerate(names):
        if name not in FEATURES:
            report.add(
                "UNKNOWN_FEATURE", ("features", index), f"There is no feature {shown(name)}.",
                did_you_mean(name, FEATURES, f"Choose one of {listed(FEATURES)}."),
            )  # fmt: skip
    return tuple(name for name in dict.fromkeys(names) if name in FEATURES)


def assessments_of(root: JsonObject) -> tuple[Assessment, ...]:
    """Return the assessments a workflow declares."""
    return tuple(
        Assessment(
            id=text(node, "id"),
            purpose=text(node, "purpose"),
            dimensions=tuple(
                Dimension(
                    id=text(inner, "id"),
                    purpose=text(inner, "purpose"),
                    levels=texts(inner, "levels"),
                    required=flag(inner, "required", default=True),
                )
                for _, inner in records(node, "dimensions")
            ),
        )
        for _, node in records(root, "assessments")
    )


def contracts_of(root: JsonObject, report: Report) -> tuple[UserContract, ...]:
    """Return the contracts a workflow defines."""
    contracts: list[UserContract] = []
    for index, node in records(root, "contracts"):
        path = ("contracts", index)
        contract = UserContract(
            id=text(node, "id"),
            kind=text(node, "kind"),
            schema=dict(record(node, "schema")),
            guidance=text(node, "guidance"),
        )
        if contract.id.startswith(RESERVED_PREFIXES):
            report.add(
                "CONTRACT_ID_RESERVED", (*path, "id"), f"The id is {shown(contract.id)}.",
                "Choose an id below a namespace of your own, such as acme.contracts.report.",
            )  # fmt: skip
        if contract.kind in BUILT_IN_KINDS:
            report.add(
                "CONTRACT_KIND_BUILT_IN", (*path, "kind"), f"The kind is {shown(contract.kind)}.",
                "Choose a kind of your own, such as acme.report.",
            )  # fmt: skip
        if any(contract.kind == other.kind for other in contracts):
            report.add(
                "CONTRACT_KIND_TAKEN", (*path, "kind"),
                f"Another contract has the kind {shown(contract.kind)}.", "Choose another kind.",
            )  # fmt: skip
        check_schema(contract.schema, (*path, "schema"), report)
        contracts.append(contract)
    return tuple(contracts)


def references_of(root: JsonObject) -> tuple[Reference, ...]:
    """Return the documents a workflow points to."""
    return tuple(
        Reference(
            id=text(node, "id"),
            title=text(node, "title"),
            source=text(node, "source"),
            purpose=text(node, "purpose"),
            authoritative=flag(node, "authoritative"),
            resolve_from=_base(node),
        )
        for _, node in records(root, "references")
    )


def bindings_of(root: JsonObject, sources: Sources) -> tuple[Binding, ...]:
    """Return what each slot of a workflow is bound to: an override, or the author's default."""
    return tuple(
        Binding(
            slot=text(node, "slotId"),
            value=sources.bindings.get(text(node, "slotId"), text(node, "default")),
            default=text(node, "default"),
        )
        for _, node in records(root, "extensionPoints")
    )


def _base(node: JsonObject) -> Literal["workspace", "package"]:
    return "package" if node.get("resolveFrom") == "package" else "workspace"
