"""Runs a workflow against the pure decider: no store, no clock, no files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headway.domain.commands import Advance, Command, Facts, Start, StartFacts
from headway.domain.compiler.compiling import compile_workflow
from headway.domain.compiler.reading import Document, read_document
from headway.domain.compiler.setting import Sources
from headway.domain.compiler.templates import routine_template_id
from headway.domain.decide import decide
from headway.domain.decision import Accepted
from headway.domain.events import Event
from headway.domain.ids import AttemptId, WorkflowHash, session_id
from headway.domain.state import Outcome, SessionState, fold
from headway.domain.workflow import Workflow

SUFFIXES = (".json", ".yaml", ".yml")
SESSION = session_id(bytes(range(16)))


def compile_text(
    text: bytes, routines: Mapping[str, Document] | None = None, name: str = "workflow.json"
) -> Workflow:
    """Return the compiled form of a text that must be sound."""
    document = read_document(text, name)
    assert isinstance(document, Document), document
    compilation = compile_workflow(document, Sources(routines=routines or {}))
    assert compilation.workflow is not None, compilation.diagnostics
    return compilation.workflow


def read_documents(folder: Path) -> dict[str, Document]:
    """Return the readable documents under a folder, by path."""
    found = {}
    for path in workflow_files(folder):
        document = read_document(path.read_bytes(), str(path))
        if isinstance(document, Document):
            found[str(path.relative_to(folder))] = document
    return found


def routines_in(folder: Path) -> dict[str, Document]:
    """Return the routines under a folder, by the id under which a step calls them."""
    named = {
        routine_template_id(str(document.root["id"])): document
        for document in read_documents(folder).values()
    }
    return {name: document for name, document in named.items() if name}


def workflow_files(folder: Path) -> list[Path]:
    """Return the workflow files under a folder, in order of path."""
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


@dataclass
class Decided:
    """A session that lives in memory alone: its events, and the state they add up to."""

    workflow: Workflow
    state: SessionState = field(default_factory=SessionState)
    events: list[Event] = field(default_factory=list)

    def start(self, command: Start) -> None:
        facts = StartFacts(
            session=SESSION,
            workflow=WorkflowHash("sha256:" + "0" * 64),
            workflow_source="test",
            workspace="/workspace",
        )
        self._accept(decide(self.state, command, Facts(workflow=self.workflow, start=facts)))

    def send(self, command: Command) -> None:
        self._accept(decide(self.state, command, Facts(workflow=self.workflow)))

    def advance(self, command: Advance) -> Outcome:
        """Return what became of the attempt, now or when it was first made."""
        self.send(command)
        outcome = self.state.attempts[command.attempt].outcome
        assert outcome is not None
        return outcome

    def open_attempt(self) -> AttemptId:
        assert self.state.tip is not None
        return self.state.tip

    def _accept(self, decision: object) -> None:
        if isinstance(decision, Accepted):
            self.events.extend(decision.events)
            self.state = fold(decision.events, self.state)
