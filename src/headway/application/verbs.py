"""The verbs bound to one engine, an agent's and a person's: what a surface is given."""

from dataclasses import dataclass

from headway.application.checkpoint_workflow import checkpoint_workflow
from headway.application.continue_workflow import continue_soon, continue_workflow
from headway.application.decide_gate import decide_gate
from headway.application.engine import Engine
from headway.application.inspect_workflow import inspect_workflow
from headway.application.list_workflows import list_workflows
from headway.application.manage_workflow_source import manage_workflow_source
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    DecideGate,
    InspectWorkflow,
    ListWorkflows,
    ManageWorkflowSource,
    Reply,
    ResumeSession,
    ShowGate,
    StartWorkflow,
)
from headway.application.resume_session import resume_session
from headway.application.show_gate import show_gate
from headway.application.start_workflow import start_workflow
from headway.application.tell_session import tell_session
from headway.ports.together import Together


@dataclass(frozen=True, slots=True)
class People:
    """The verbs with which a person looks at a gate and answers it."""

    engine: Engine

    def show_gate(self, request: ShowGate) -> Reply:
        return show_gate(self.engine, request)

    def decide_gate(self, request: DecideGate) -> Reply:
        return decide_gate(self.engine, request)


@dataclass(frozen=True, slots=True)
class Verbs:
    """Each method is the verb of its name; see there for what it raises."""

    engine: Engine

    @property
    def people(self) -> People | None:
        """What a client may put before its user; None when the settings keep gates to the CLI."""
        return People(self.engine) if self.engine.elicitation else None

    @property
    def together(self) -> Together | None:
        """What makes calls that come at once, where the store gains by it."""
        return self.engine.together

    def list_workflows(self, request: ListWorkflows) -> Reply:
        return list_workflows(self.engine, request)

    def inspect_workflow(self, request: InspectWorkflow) -> Reply:
        return inspect_workflow(self.engine, request)

    def start_workflow(self, request: StartWorkflow) -> Reply:
        return start_workflow(self.engine, request)

    def continue_workflow(self, request: ContinueWorkflow) -> Reply:
        return continue_workflow(self.engine, request)

    def continue_soon(self, request: ContinueWorkflow) -> Reply | None:
        return continue_soon(self.engine, request)

    def checkpoint_workflow(self, request: CheckpointWorkflow) -> Reply:
        return checkpoint_workflow(self.engine, request)

    def resume_session(self, request: ResumeSession) -> Reply:
        return resume_session(self.engine, request)

    def tell_session(self, name: str) -> Reply:
        return tell_session(self.engine, name)

    def manage_workflow_source(self, request: ManageWorkflowSource) -> Reply:
        return manage_workflow_source(self.engine, request)
