"""The verbs on a real store, real folders and a real git workspace, and what tests ask of them."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.application.engine import Engine
from headway.application.requests import ContinueWorkflow, Reply, StartWorkflow
from headway.application.verbs import Verbs
from headway.bootstrap import open_engine
from headway.config import read_settings
from headway.domain.errors import Code, Fault
from headway.domain.ids import session_stream
from headway.domain.values import Json, JsonObject
from headway.ports.ledger import Recorded
from headway.ports.sessions import SessionQuery

PLAIN: JsonObject = {
    "id": "three-steps",
    "name": "Three steps",
    "description": "A plain workflow.",
    "version": "1.0.0",
    "steps": [
        {"id": f"s{number}", "title": f"Step {number}", "prompt": "Do it."} for number in (1, 2, 3)
    ],
}


class FrontDoor:
    """One home, one workspace, one folder of workflow files, and the verbs on them."""

    def __init__(self, root: Path, engine: Engine) -> None:
        self.workspace = root / "work"
        self.files = root / "files"
        self.engine = engine
        self.verbs = Verbs(engine)

    def write(self, name: str, content: JsonObject | str) -> Path:
        path = self.files / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, "utf-8")
        return path

    def start(self, workflow_id: str = "three-steps", **fields: Json) -> Reply:
        request = {
            "workflow_id": workflow_id,
            "workspace_path": str(self.workspace),
            "goal": "Try it",
        }
        return self.verbs.start_workflow(StartWorkflow(**{**request, **fields}))  # type: ignore[arg-type]  # tests name fields

    def advance(
        self,
        token: Json,
        notes: str | None = "done",
        artifacts: tuple[Json, ...] = (),
        context: JsonObject | None = None,
    ) -> Reply:
        return self.verbs.continue_workflow(
            ContinueWorkflow(
                continue_token=str(token),
                intent="advance",
                notes=notes,
                artifacts=artifacts,
                context=context,
            )
        )

    def rehydrate(self, token: Json) -> Reply:
        request = ContinueWorkflow(continue_token=str(token), intent="rehydrate")
        return self.verbs.continue_workflow(request)

    def events(self) -> list[Recorded]:
        """Return every event of every session."""
        return [
            record
            for summary in self.engine.sessions.find(SessionQuery()).rows
            for record in self.engine.ledger.scan(session_stream(summary.session))
        ]

    @contextmanager
    def refused(self, code: Code, kind: str | None = None) -> Iterator[Fault]:
        """Expect a fault with this code and a remedy, and nothing written."""
        before = self.events()
        caught = Fault("none", remedy="none")
        with pytest.raises(Fault) as raised:
            yield caught
        fault = raised.value
        caught.__dict__.update(fault.__dict__)
        assert fault.code is code
        assert kind is None or fault.details["kind"] == kind
        assert fault.message.strip()
        assert fault.remedy.strip()
        assert self.events() == before


@contextmanager
def open_front_door(root: Path, **settings: str) -> Iterator[FrontDoor]:
    """Make the folders of a front door under `root` and open it."""
    for name in ("work", "files"):
        (root / name).mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", str(root / "work")], check=True)
    environ = {
        "HEADWAY_HOME": str(root / "home"),
        "HEADWAY_WORKFLOW_PATH": str(root / "files"),
        "HOME": str(root),
        **settings,
    }
    with open_engine(read_settings(environ)) as engine:
        door = FrontDoor(root, engine)
        door.write("three-steps.json", PLAIN)
        yield door


def text_of(fault: Fault) -> str:
    return f"{fault.message} {fault.remedy}"
