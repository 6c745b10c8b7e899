"""Compiling one step: a standard or parallel step, with the steps generated behind it.

Verification, audit and synthesis are steps like any other from here on: they have ids, are hashed,
selected and rendered.
"""

from typing import Final, get_args

from headway.domain.compiler.conditions import condition_at
from headway.domain.compiler.criteria import criteria_at
from headway.domain.compiler.functions import calls_at, functions_at, references_at
from headway.domain.compiler.nodes import (
    choice,
    flag,
    items,
    maybe_text,
    record,
    records,
    text,
    text_map,
    texts,
)  # fmt: skip
from headway.domain.compiler.prompts import check_tokens, compiled_text, prompt_at
from headway.domain.compiler.reporting import did_you_mean, listed, shown
from headway.domain.compiler.setting import Scope, Setting
from headway.domain.contracts.loop_control import LOOP_CONTROL_REF
from headway.domain.diagnostics import Path
from headway.domain.values import JsonObject
from headway.domain.workflow import (
    Always,
    Check,
    Condition,
    Confirmation,
    Consequence,
    Delegation,
    Fragment,
    GateKind,
    ModelTier,
    OutputContract,
    Step,
    StepKind,
)  # fmt: skip

CHECK_TIMEOUT_SECONDS: Final = 300
MODEL_TIERS: Final[tuple[ModelTier, ...]] = get_args(ModelTier)

_VERIFY: Final = "Verify the work of the step before this one with checks that fit it."
_VERIFY_COMMAND: Final = "Run `{}` and judge the work of the step before this one by its outcome."
_VERIFY_REPORT: Final = "Report what was run, what came out, and whether the work holds."
_AUDIT: Final = (
    "Look at the work of the step before this one as if someone else had done it. Say whether it "
    "passes or what must change, point by point, with the evidence for each."
)
_SYNTHESIS: Final = (
    "Bring the results of the parallel work together into one. Where they contradict each other, "
    "decide which holds and say why; leave out nothing that matters."
)


def compile_standard(
    node: JsonObject, path: Path, setting: Setting, scope: Scope
) -> tuple[Step, ...]:
    """Compile a step with a prompt of its own and the steps generated behind it."""
    report = setting.report
    own = functions_at(node, "step")
    visible = (*own, *scope.routine_functions, *scope.functions)
    calls = calls_at(node, path, visible, report)
    references = references_at(node, path, visible, report)
    named = {*references, *(call.name for call in calls)}
    carried = tuple(each for each in scope.routine_functions if each.name in named)
    refs = _assessment_refs(node, path, setting)
    step = Step(
        id=_registered(node, path, setting, scope),
        title=_title(node, path, setting, scope),
        prompt=prompt_at(node, path, setting, scope),
        fragments=_fragments(node, path, setting),
        agent_role=maybe_text(node, "agentRole"),
        model_tier=choice(node, "modelTier", MODEL_TIERS),
        guidance=(*texts(node, "guidance"), *scope.guidance),
        run_condition=_run_condition(node, path, setting, scope),
        confirmation=_confirmation(node, path, setting),
        criteria=criteria_at(node, "validationCriteria", path, report),
        output_contract=_contract(node, path, setting),
        assessment_refs=refs,
        consequences=_consequences(node, refs, path, setting),
        notes_optional=flag(node, "notesOptional"),
        functions=(*own, *carried),
        function_calls=calls,
        function_references=references,
        checks=_checks(node),
    )
    _check_texts(step, path, setting)
    return (step, *_verification(node, step, path, setting), *_audit(node, step, path, setting))


def compile_parallel(
    node: JsonObject, path: Path, setting: Setting, scope: Scope
) -> tuple[Step, ...]:
    """Compile a parallel step and its synthesis. Confirmation is not asked there, as recorded."""
    step = Step(
        id=_registered(node, path, setting, scope),
        title=_title(node, path, setting, scope),
        kind="parallel",
        delegations=tuple(
            _delegation(each, (*path, "parallelDelegations", index), setting)
            for index, each in records(node, "parallelDelegations")
        ),
        guidance=scope.guidance,
        run_condition=_run_condition(node, path, setting, scope),
        notes_optional=flag(node, "notesOptional"),
    )
    return (step, *_synthesis(node, step, path, setting))


def _verification(node: JsonObject, parent: Step, path: Path, setting: Setting) -> tuple[Step, ...]:
    if not isinstance(node.get("verification"), dict):
        return ()
    wanted = record(node, "verification")
    command, prompt = text(wanted, "command"), text(wanted, "prompt")
    parts = [prompt or ("" if command else _VERIFY)]
    if command:
        parts.append(_VERIFY_COMMAND.format(command))
    prompt = "\n\n".join(part for part in (*parts, _VERIFY_REPORT) if part)
    return (_generated("verification", prompt, parent, (*path, "verification"), setting),)


def _audit(node: JsonObject, parent: Step, path: Path, setting: Setting) -> tuple[Step, ...]:
    if not isinstance(node.get("audit"), dict):
        return ()
    wanted = record(node, "audit")
    prompt = text(wanted, "prompt") or _AUDIT
    rubric = "\n".join(f"- {line}" for line in texts(wanted, "rubric"))
    if rubric:
        prompt = f"{prompt}\n\n## Rubric\n{rubric}"
    return (_generated("audit", prompt, parent, (*path, "audit"), setting),)


def _synthesis(node: JsonObject, parent: Step, path: Path, setting: Setting) -> tuple[Step, ...]:
    if not isinstance(node.get("synthesis"), dict):
        return ()
    wanted, path = record(node, "synthesis"), (*path, "synthesis")
    if not wanted:
        setting.report.add(
            "SYNTHESIS_EMPTY", path, "The synthesis is empty.",
            "Add a prompt or an outputContract, or remove it.",
        )  # fmt: skip
    prompt = text(wanted, "prompt") or _SYNTHESIS
    contract = _contract(wanted, path, setting)
    return (_generated("synthesis", prompt, parent, path, setting, contract),)


def _generated(  # noqa: PLR0913, PLR0917 - what tells the three kinds apart
    kind: StepKind,
    prompt: str,
    parent: Step,
    path: Path,
    setting: Setting,
    contract: OutputContract | None = None,
) -> Step:
    identifier = f"{parent.id}__{kind}"
    setting.register(identifier if parent.id else "", path)
    return Step(
        id=identifier,
        title=f"{kind.capitalize()}: {parent.title}",
        kind=kind,
        prompt=compiled_text(prompt, (*path, "prompt"), setting, Scope()),
        run_condition=parent.run_condition,
        output_contract=contract,
        notes_optional=True,
    )


def _registered(node: JsonObject, path: Path, setting: Setting, scope: Scope) -> str:
    name = text(node, "id")
    setting.register(scope.prefix + name if name else "", path)
    return scope.prefix + name


def _title(node: JsonObject, path: Path, setting: Setting, scope: Scope) -> str:
    return compiled_text(text(node, "title"), (*path, "title"), setting, scope)


def _run_condition(
    node: JsonObject, path: Path, setting: Setting, scope: Scope
) -> Condition | None:
    return condition_at(node, "runCondition", path, setting.report) or scope.inherited


def _fragments(node: JsonObject, path: Path, setting: Setting) -> tuple[Fragment, ...]:
    fragments = []
    for index, each in records(node, "promptFragments"):
        here = (*path, "promptFragments", index)
        added = text(each, "text")
        check_tokens(added, (*here, "text"), setting)
        setting.spend(len(added), here)
        when = condition_at(each, "when", here, setting.report)
        fragments.append(Fragment(id=text(each, "id"), text=added, when=when))
    return tuple(fragments)


def _check_texts(step: Step, path: Path, setting: Setting) -> None:
    check_tokens(step.agent_role or "", (*path, "agentRole"), setting)
    for index, tip in enumerate(step.guidance):
        check_tokens(tip, (*path, "guidance", index), setting)


def _confirmation(node: JsonObject, path: Path, setting: Setting) -> Confirmation | None:
    wanted = node.get("requireConfirmation")
    if wanted is True:
        return Confirmation(kind="coordinator_eval")
    if not isinstance(wanted, dict):
        return None
    path = (*path, "requireConfirmation")
    if "kind" not in wanted:
        when = condition_at(node, "requireConfirmation", path[:-1], setting.report)
        return Confirmation(kind="coordinator_eval", when=_unless_always(when))
    when = condition_at(wanted, "condition", path, setting.report)
    kind: GateKind = "human_approval" if wanted["kind"] == "human_approval" else "coordinator_eval"
    return Confirmation(kind=kind, when=_unless_always(when))


def _unless_always(condition: Condition | None) -> Condition | None:
    return None if isinstance(condition, Always) else condition


def _contract(node: JsonObject, path: Path, setting: Setting) -> OutputContract | None:
    wanted = record(node, "outputContract")
    ref = text(wanted, "contractRef")
    if not ref:
        return None
    if ref not in setting.contracts:
        setting.report.add(
            "UNKNOWN_CONTRACT", (*path, "outputContract", "contractRef"),
            f"There is no contract {shown(ref)}.",
            did_you_mean(ref, setting.contracts, f"Choose one of {listed(setting.contracts)}."),
        )  # fmt: skip
    return OutputContract(ref=ref, required=flag(wanted, "required", default=True))


def decides_a_loop(step: Step) -> bool:
    """Tell whether a step asks for a loop decision."""
    return step.output_contract is not None and step.output_contract.ref == LOOP_CONTROL_REF


def _assessment_refs(node: JsonObject, path: Path, setting: Setting) -> tuple[str, ...]:
    refs = texts(node, "assessmentRefs")
    for index, ref in enumerate(refs):
        if ref not in setting.assessments:
            known = setting.assessments
            setting.report.add(
                "UNKNOWN_ASSESSMENT", (*path, "assessmentRefs", index),
                f"The workflow declares no assessment {shown(ref)}.",
                did_you_mean(ref, known, f"Declare it; declared are {listed(known)}."),
            )  # fmt: skip
    return refs


def _consequences(
    node: JsonObject, refs: tuple[str, ...], path: Path, setting: Setting
) -> tuple[Consequence, ...]:
    consequences: list[Consequence] = []
    path = (*path, "assessmentConsequences")
    if items(node, "assessmentConsequences") and not refs:
        setting.report.add(
            "CONSEQUENCE_WITHOUT_ASSESSMENT", path, "The step has no assessmentRefs.",
            "Add assessmentRefs, or remove the consequences.",
        )  # fmt: skip
    for index, each in records(node, "assessmentConsequences"):
        when, effect = record(each, "when"), record(each, "effect")
        consequence = Consequence(
            level=text(when, "anyEqualsLevel"),
            guidance=text(effect, "guidance"),
            assessment=maybe_text(when, "forAssessment"),
        )
        here = (*path, index, "when")
        if refs:
            _check_trigger(consequence, refs, here, setting)
        trigger = (consequence.level, consequence.assessment)
        if any((other.level, other.assessment) == trigger for other in consequences):
            setting.report.add(
                "DUPLICATE_CONSEQUENCE", here,
                f"The level {shown(consequence.level)} already has a consequence here.",
                "Join the two into one guidance.",
            )  # fmt: skip
        consequences.append(consequence)
    return tuple(consequences)


def _check_trigger(
    consequence: Consequence, refs: tuple[str, ...], path: Path, setting: Setting
) -> None:
    named = consequence.assessment
    if named is not None and named not in refs:
        setting.report.add(
            "CONSEQUENCE_WITHOUT_ASSESSMENT", (*path, "forAssessment"),
            f"The step does not ask for the assessment {shown(named)}.",
            did_you_mean(named, refs, f"Choose one of {listed(refs)}."),
        )  # fmt: skip
        return
    known = [setting.assessments[ref] for ref in refs if ref in setting.assessments]
    looked_at = [each for each in known if named is None or each.id == named]
    if not looked_at:
        return  # the assessment itself is unknown, and told already
    levels = [level for each in looked_at for part in each.dimensions for level in part.levels]
    if consequence.level and consequence.level not in levels:
        setting.report.add(
            "UNKNOWN_LEVEL", (*path, "anyEqualsLevel"),
            f"No dimension has the level {shown(consequence.level)}.",
            did_you_mean(
                consequence.level, levels, f"Choose one of {listed(dict.fromkeys(levels))}."
            ),
        )  # fmt: skip


def _checks(node: JsonObject) -> tuple[Check, ...]:
    return tuple(
        Check(
            id=text(each, "id"),
            run=text(each, "run"),
            timeout_seconds=_whole(each, "timeoutSeconds", CHECK_TIMEOUT_SECONDS),
            protect=texts(each, "protect"),
        )
        for _, each in records(node, "checks")
    )


def _whole(node: JsonObject, key: str, default: int) -> int:
    value = node.get(key)
    return int(value) if isinstance(value, int | float) else default


def _delegation(node: JsonObject, path: Path, setting: Setting) -> Delegation:
    return Delegation(
        workflow_id=text(node, "workflowId"),
        goal=maybe_text(node, "goal"),
        when=condition_at(node, "runCondition", path, setting.report),
        context_mapping=text_map(node, "contextMapping"),
        args=text_map(node, "args"),
        model_tier=choice(node, "modelTier", MODEL_TIERS),
        allowed_tools=texts(node, "allowedTools"),
    )
