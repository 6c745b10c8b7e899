"""What each key of the language means, in a sentence: for editors, and for the reference.

The tables of `grammar` say what may stand where; this one says what for. A test holds the two to
the same records and keys.
"""

from typing import Final

from headway.domain.compiler.criteria import RuleType
from headway.domain.workflow import Operator

_RUN_CONDITION: Final = (
    "Shown only if this condition holds when its turn comes; skipped for good otherwise."
)
_CONFIRM: Final = (
    "Whether somebody must confirm before the session goes on: true, a condition, or a gate."
)
_NOTES_OPTIONAL: Final = "Whether it may be left without notes."
_FUNCTIONS: Final = "Named texts that steps refer to instead of repeating them."
_LINT: Final = "Findings of the linter that are allowed in this part, each with the reason."
_TIER: Final = "How strong a model the work needs: advice to whoever runs it."

MEANINGS: Final[dict[str, dict[str, str]]] = {
    "workflow": {
        "id": "What it is started by: a namespace of yours, a dot, a name.",
        "name": "Its title, for people.",
        "description": "What it is for, in a sentence or two; agents choose by it.",
        "version": "Your own semantic version of it.",
        "steps": "What is done, in order; an agent sees one step at a time.",
        "modelTier": _TIER,
        "preconditions": "What must be so before a start; shown to the agent with the first step.",
        "clarificationPrompts": "Questions to settle first where the goal leaves them open.",
        "metaGuidance": "Rules that hold for the whole session; shown at start and resume.",
        "functionDefinitions": _FUNCTIONS,
        "recommendedPreferences": "How far a session should go by itself; going further is noted.",
        "features": "Sets of rules that come with the engine, added to every step made of blocks.",
        "assessments": "Judgements with named dimensions and levels that steps ask for.",
        "extensionPoints": "Slots that a project may fill with something of its own.",
        "references": "Documents that the agent is pointed to.",
        "contracts": "Forms of your own for what steps hand in.",
        "tags": "Words to find it by in a list.",
        "validatedAgainstSpecVersion": (
            "The version of the linter's rules it was looked over against; `lint --stamp` sets it."
        ),
        "about": "What people should know of it, in Markdown.",
        "examples": "Goals it was made for.",
        "metricsProfile": "Which figures the agent reports of the run in the context.",
        "lint": _LINT,
        "copiedFrom": "Which workflow the file is a copy of; `headway workflows copy` writes it.",
        "$schema": "Where editors find the schema of workflow files.",
    },
    "standard step": {
        "id": "How other parts refer to it; once in the workflow.",
        "title": "What the agent and the list of steps call it; may hold {{variables}}.",
        "prompt": "What the agent is asked, as one text; may hold {{variables}}.",
        "promptBlocks": "What the agent is asked, in sections.",
        "templateCall": "A routine whose steps stand in this one's place.",
        "promptFragments": "Texts added to the prompt when their conditions hold.",
        "agentRole": "As whom the agent should work.",
        "modelTier": _TIER,
        "guidance": "Hints that are shown under the prompt.",
        "askForFiles": "Read for files of WorkRail; changes nothing.",
        "hasValidation": "Read for files of WorkRail; changes nothing.",
        "requireConfirmation": _CONFIRM,
        "runCondition": _RUN_CONDITION,
        "validationCriteria": "Rules for the notes; the step stays open until they are kept.",
        "outputContract": "The artifact that must be handed in before the step can be left.",
        "assessmentRefs": "The assessments to be handed in here.",
        "assessmentConsequences": "What follows from a level: the step stays open, with guidance.",
        "notesOptional": _NOTES_OPTIONAL,
        "functionDefinitions": _FUNCTIONS,
        "functionCalls": "Functions the agent should use here, with arguments.",
        "functionReferences": "Functions whose text is shown here, each written as name().",
        "audit": "A step added behind this one that judges its work.",
        "verification": "A step added behind this one that proves its work.",
        "checks": "Commands for the engine to run, which must end with 0.",
        "lint": _LINT,
    },
    "prompt blocks": {
        "goal": "What is to be reached.",
        "constraints": "What must hold on the way.",
        "procedure": "What to do, in order; numbered.",
        "outputRequired": "What to hand in, by name.",
        "verify": "What must be true before the step is left.",
    },
    "text part": {"kind": "`text`.", "text": "The words, joined to their neighbours as they are."},
    "ref part": {"kind": "`ref`.", "refId": "A text that comes with the engine."},
    "prompt fragment": {
        "id": "Its name, once in the step.",
        "text": "What is added.",
        "when": "Added only if this holds when the step is shown.",
    },
    "template call": {
        "templateId": "`wr.templates.routine.` and the routine's name.",
        "args": "What stands for each {name} in the routine's titles and prompts.",
    },
    "gate": {
        "kind": "Who decides: `human_approval` a person, `coordinator_eval` an evaluator.",
        "condition": "Decided on only if this holds when the step is left.",
    },
    "output contract": {
        "contractRef": "A contract that is built in, or one declared in contracts.",
        "required": "Whether the step stays open without it; true unless said.",
    },
    "validation rule": {
        "type": "What is looked at: see the table of rules.",
        "message": "What the agent is told when the rule is not kept.",
        "value": "The text that must be in the notes (contains).",
        "pattern": "The regular expression, RE2, that must be found in them (regex).",
        "flags": "Flags of the pattern, such as i.",
        "min": "The fewest characters (length).",
        "max": "The most characters (length).",
        "schema": "The JSON Schema that the notes, read as JSON, must satisfy (schema).",
        "condition": "The rule counts only if this holds.",
    },
    "assessment consequence": {"when": "What sets it off.", "effect": "What it does."},
    "trigger": {
        "anyEqualsLevel": "The level of any dimension.",
        "forAssessment": "Of this assessment alone.",
    },
    "effect": {
        "kind": "`require_followup`: the step stays open.",
        "guidance": "What the agent is told to do before it hands in again.",
    },
    "check": {
        "id": "Its name, once in the step.",
        "run": "The command, run by a shell in the workspace.",
        "timeoutSeconds": "When it counts as failed; 300 unless said.",
        "protect": "Files that an agent must not change to make it pass.",
    },
    "audit": {
        "prompt": "What the auditor is asked.",
        "rubric": "What the work is held against.",
    },
    "verification": {
        "command": "What to run.",
        "prompt": "What to prove, in words.",
    },
    "loop step": {
        "id": "How other parts refer to it; once in the workflow.",
        "type": "`loop`.",
        "title": "What the list of steps calls it.",
        "loop": "What makes it go on, and how often at most.",
        "body": "The steps of a pass, or the id of one step beside the loop.",
        "functionDefinitions": "Named texts that steps of the body refer to.",
        "requireConfirmation": "Has no effect on a loop; put it on a step of the body.",
        "runCondition": _RUN_CONDITION,
        "notesOptional": _NOTES_OPTIONAL,
        "lint": _LINT,
    },
    "loop": {
        "type": "`while`, `until`, `for` or `forEach`.",
        "maxIterations": "The most passes, whatever the loop is steered by.",
        "condition": "Goes on while it holds (while), until it holds (until).",
        "conditionSource": "What a while or until loop is steered by, said outright.",
        "count": "How often a for loop runs: a number, or the context key of one.",
        "items": "The context key of the list that a forEach loop goes through.",
        "iterationVar": "What the number of the pass, from 1, is called; currentIteration.",
        "itemVar": "What the item of the pass is called; currentItem.",
        "indexVar": "What the item's index, from 0, is called; currentIndex.",
    },
    "artifact source": {
        "kind": "`artifact_contract`: a decision handed in by a step of the body.",
        "contractRef": "`wr.contracts.loop_control`.",
        "loopId": "The id under which decisions speak of this loop.",
    },
    "context source": {
        "kind": "`context_variable`: a condition on the context.",
        "condition": "The condition.",
    },
    "parallel step": {
        "id": "How other parts refer to it; once in the workflow.",
        "type": "`parallel`.",
        "title": "What the agent and the list of steps call it.",
        "parallelDelegations": "What the agent hands to helpers, all at once.",
        "requireConfirmation": _CONFIRM,
        "runCondition": _RUN_CONDITION,
        "notesOptional": _NOTES_OPTIONAL,
        "synthesis": "A step added behind this one that brings the results together.",
        "lint": _LINT,
    },
    "delegation": {
        "workflowId": "The workflow that the helper follows.",
        "goal": "What it is started for.",
        "runCondition": "Handed out only if this holds.",
        "contextMapping": "Which context key becomes which of the helper's.",
        "args": "Fixed values of the helper's context; they win over the mapping.",
        "modelTier": _TIER,
        "allowedTools": "The tools a helper should keep to.",
    },
    "synthesis": {
        "prompt": "What to make of the results.",
        "outputContract": "The artifact it must hand in.",
    },
    "function definition": {
        "name": "What steps call it by.",
        "definition": "The text.",
        "parameters": "What a call must give.",
        "scope": "Read for files of WorkRail; where it stands decides.",
    },
    "parameter": {
        "name": "Its name in the arguments of a call.",
        "type": "Its JSON type.",
        "required": "Whether every call gives it.",
        "description": "What it is for.",
        "enum": "The values it may have.",
        "default": "Its value where a call gives none.",
    },
    "function call": {"name": "The function.", "args": "Its arguments, by name."},
    "assessment": {
        "id": "What steps refer to it by.",
        "purpose": "What is judged, and why.",
        "dimensions": "The questions, each with its levels.",
    },
    "dimension": {
        "id": "Its name in the artifact.",
        "purpose": "What the levels measure.",
        "levels": "The answers there are.",
        "required": "Whether it must be answered; true unless said.",
    },
    "recommended preferences": {
        "recommendedAutonomy": "How far to go without asking.",
        "recommendedRiskPolicy": "How much to dare.",
    },
    "extension point": {
        "slotId": "The name in {{wr.bindings.NAME}}.",
        "purpose": "What the slot is for.",
        "default": "What stands there unless a project's bindings say otherwise.",
        "acceptedKinds": "What may fill it; information for people.",
    },
    "reference": {
        "id": "Its name, once in the workflow.",
        "title": "What the document is called.",
        "source": "Its path, relative to its base.",
        "purpose": "Why it matters to the work.",
        "authoritative": "Whether it binds, or advises.",
        "resolveFrom": "Its base: `workspace` (unless said) or `package`.",
    },
    "contract": {
        "id": "What contractRef names.",
        "kind": "The kind of artifact it is about.",
        "schema": "The JSON Schema the whole artifact must satisfy, its kind included.",
        "guidance": "What to send, in words; agents read it with the step and with a refusal.",
    },
    "lint settings": {"allow": "The reason for each code that is allowed."},
    "origin of a copy": {
        "id": "The original's id.",
        "version": "Its version at that time.",
        "hash": "The hash of its compiled form at that time.",
    },
}

OPERATOR_MEANINGS: Final[dict[Operator, str]] = {
    "equals": "It is this value.",
    "not_equals": "It is not this value; so does a variable that is not set.",
    "gt": "It is a number above this one.",
    "gte": "It is a number not below this one.",
    "lt": "It is a number below this one.",
    "lte": "It is a number not above this one.",
    "contains": "Its text holds this text.",
    "startsWith": "Its text begins with this text.",
    "endsWith": "Its text ends with this text.",
    "matches": "This regular expression (RE2) is found in its text.",
    "in": "It equals one of these values.",
}

RULE_MEANINGS: Final[dict[RuleType, str]] = {
    "contains": "The notes hold a text.",
    "regex": "A pattern is found in the notes.",
    "length": "The notes are neither too short nor too long.",
    "schema": "The notes are JSON of a form.",
}
