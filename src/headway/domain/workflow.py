"""The compiled workflow: the one form that is hashed, pinned, rendered and stepped through.

Everything an author may write that is only shorthand (prompt blocks, refs, features, routines,
bindings, virtual steps, a loop body named by a sibling's id) is gone from it; everything that
reaches an agent or steers a run is in it. It holds no path, no clock and no machine, so the same
files compile to the same bytes everywhere.

Theory of operation: `steps` is a tree. An `Item` is a `Step`, which an agent performs, or a `Loop`
around further items. A cursor (see `cursor.py`) addresses an item by its indices from the root.
"""

from typing import Literal, TypeAlias

from headway.domain.values import Json, JsonObject, Value

WORKFLOW_FORM = 1  # raised when the compiled form changes shape

Autonomy: TypeAlias = Literal["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"]
RiskPolicy: TypeAlias = Literal["conservative", "balanced", "aggressive"]
ModelTier: TypeAlias = Literal["lightweight", "mid", "heavy"]
MetricsProfile: TypeAlias = Literal["coding", "review", "research", "design", "ticket", "none"]
GateKind: TypeAlias = Literal["coordinator_eval", "human_approval"]
LoopKind: TypeAlias = Literal["while", "until", "for", "forEach"]
StepKind: TypeAlias = Literal["standard", "parallel", "verification", "audit", "synthesis"]

Operator: TypeAlias = Literal[
    "truthy", "equals", "not_equals", "gt", "gte", "lt", "lte",
    "contains", "startsWith", "endsWith", "matches", "in",
]  # fmt: skip


class Compare(Value, tag="compare", tag_field="is"):
    """One operator applied to one context key, looked up flat (no dotted paths)."""

    var: str
    operator: Operator
    value: Json = None


class AllOf(Value, tag="and", tag_field="is"):
    """True when every term is."""

    terms: tuple["Condition", ...]


class AnyOf(Value, tag="or", tag_field="is"):
    """True when some term is."""

    terms: tuple["Condition", ...]


class Negation(Value, tag="not", tag_field="is"):
    """True when its term is false."""

    term: "Condition"


class Always(Value, tag="always", tag_field="is"):
    """The empty condition at the top: true."""


class Malformed(Value, tag="malformed", tag_field="is"):
    """An empty object inside another condition: it makes the whole condition false, as recorded."""


Condition: TypeAlias = Compare | AllOf | AnyOf | Negation | Always | Malformed


class Confirmation(Value):
    """A step that asks for confirmation, perhaps only under a condition, and from whom."""

    kind: GateKind
    when: Condition | None = None


class Fragment(Value):
    """Text added to a prompt when its condition holds at render time."""

    id: str
    text: str
    when: Condition | None = None


class Parameter(Value):
    """A parameter of a function definition."""

    name: str
    type: Literal["string", "number", "boolean", "array", "object"]
    required: bool = False
    description: str = ""
    enum: tuple[Json, ...] = ()
    default: Json = None


class Function(Value):
    """A named block of prose that steps refer to; `scope` is where it was defined."""

    name: str
    definition: str
    scope: Literal["workflow", "loop", "step"]
    parameters: tuple[Parameter, ...] = ()


class FunctionCall(Value):
    """A step's declared use of a function."""

    name: str
    args: JsonObject


class Rule(Value, tag="rule", tag_field="is"):
    """One check of the notes text. Only the fields of its `type` are set."""

    type: Literal["contains", "regex", "length", "schema"]
    message: str
    value: str | None = None
    pattern: str | None = None
    flags: str = ""
    min: float | None = None
    max: float | None = None
    schema: JsonObject | None = None
    condition: Condition | None = None


class EveryRule(Value, tag="and", tag_field="is"):
    """Passes when every part does. `listed` marks the array form, whose messages are kept."""

    parts: tuple["Criteria", ...]
    listed: bool = False


class SomeRule(Value, tag="or", tag_field="is"):
    """Passes when some part passes."""

    parts: tuple["Criteria", ...]


class NoRule(Value, tag="not", tag_field="is"):
    """Passes when its part does not."""

    part: "Criteria"


Criteria: TypeAlias = Rule | EveryRule | SomeRule | NoRule


class OutputContract(Value):
    """The typed artifact a step must hand in."""

    ref: str
    required: bool = True


class UserContract(Value):
    """A contract defined by the workflow: artifacts of `kind` must satisfy a JSON Schema."""

    id: str
    kind: str
    schema: JsonObject
    guidance: str = ""


class Dimension(Value):
    """One judgement of an assessment and the levels it may take."""

    id: str
    purpose: str
    levels: tuple[str, ...]
    required: bool = True


class Assessment(Value):
    """A named shape of judgement that steps ask for."""

    id: str
    purpose: str
    dimensions: tuple[Dimension, ...]


class Consequence(Value):
    """When a dimension comes out at `level`, the step asks for follow-up with this guidance."""

    level: str
    guidance: str
    assessment: str | None = None


class Check(Value):
    """A command the engine's own runner executes in the workspace before a step may be left."""

    id: str
    run: str
    timeout_seconds: int = 300
    protect: tuple[str, ...] = ()


class Delegation(Value):
    """One piece of work a parallel step asks the agent to hand to a subagent."""

    workflow_id: str
    goal: str | None = None
    when: Condition | None = None
    context_mapping: dict[str, str] = {}
    args: dict[str, str] = {}
    model_tier: ModelTier | None = None
    allowed_tools: tuple[str, ...] = ()


class Step(Value, tag="step", tag_field="is"):
    """Work an agent performs and hands in. `prompt` still holds `{{context}}` placeholders."""

    id: str
    title: str
    kind: StepKind = "standard"
    prompt: str = ""
    delegations: tuple[Delegation, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    agent_role: str | None = None
    model_tier: ModelTier | None = None
    guidance: tuple[str, ...] = ()
    run_condition: Condition | None = None
    confirmation: Confirmation | None = None
    criteria: Criteria | None = None
    output_contract: OutputContract | None = None
    assessment_refs: tuple[str, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    notes_optional: bool = False
    functions: tuple[Function, ...] = ()
    function_calls: tuple[FunctionCall, ...] = ()
    function_references: tuple[str, ...] = ()  # bare names
    checks: tuple[Check, ...] = ()


class ByDecision(Value, tag="decision", tag_field="is"):
    """A loop steered by `wr.loop_control` artifacts; `loop_id` is the name a decision may use."""

    loop_id: str


class ByCondition(Value, tag="condition", tag_field="is"):
    """A while or until loop steered by context."""

    condition: Condition


class ByCount(Value, tag="count", tag_field="is"):
    """A for loop: a number, or the context key that holds it."""

    count: float | str


class ByItems(Value, tag="items", tag_field="is"):
    """A forEach loop: the context key that holds the array."""

    key: str


LoopSource: TypeAlias = ByDecision | ByCondition | ByCount | ByItems


class Loop(Value, tag="loop", tag_field="is"):
    """A body of items met again and again until its source says stop or the limit is reached."""

    id: str
    title: str
    kind: LoopKind
    source: LoopSource
    max_iterations: int
    body: tuple["Item", ...]
    iteration_var: str = "currentIteration"  # 1-based
    item_var: str = "currentItem"
    index_var: str = "currentIndex"  # 0-based
    run_condition: Condition | None = None
    functions: tuple[Function, ...] = ()


Item: TypeAlias = Step | Loop


class Reference(Value):
    """A document worth reading: a path relative to the workspace or to the installed package."""

    id: str
    title: str
    source: str
    purpose: str
    authoritative: bool
    resolve_from: Literal["workspace", "package"] = "workspace"


class Binding(Value):
    """What a slot was bound to at compile time; `default` is the author's choice."""

    slot: str
    value: str
    default: str


class Recommended(Value):
    """The preferences the author advises; shown, never adopted by themselves."""

    autonomy: Autonomy | None = None
    risk_policy: RiskPolicy | None = None


class Workflow(Value):
    """A workflow ready to run."""

    form: int
    id: str
    name: str
    description: str
    version: str
    steps: tuple[Item, ...]
    about: str = ""
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    model_tier: ModelTier | None = None
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    meta_guidance: tuple[str, ...] = ()
    functions: tuple[Function, ...] = ()
    recommended: Recommended | None = None
    assessments: tuple[Assessment, ...] = ()
    contracts: tuple[UserContract, ...] = ()
    references: tuple[Reference, ...] = ()
    bindings: tuple[Binding, ...] = ()
    metrics_profile: MetricsProfile = "none"
    validated_against: int | None = None
