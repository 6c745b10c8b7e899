"""An MCP server on stdin and stdout whose verbs know their answers by rote."""

import sys
import threading

from headway.application.faults import InvalidInput
from headway.application.requests import (
    CheckpointWorkflow,
    ContinueWorkflow,
    InspectWorkflow,
    ListWorkflows,
    ManageWorkflowSource,
    Reply,
    ResumeSession,
    StartWorkflow,
)
from headway.mcp.server import build_server
from headway.mcp.stdio import serve_stdio
from tests.support.patience import SECONDS_MAX


class RoteVerbs:
    """`st_wait` waits for `st_go`: answered only when calls run side by side."""

    people = together = None

    def __init__(self) -> None:
        self.go = threading.Event()

    def list_workflows(self, request: ListWorkflows) -> Reply:
        print("a stray print", request.workspace_path)  # noqa: T201 - it must not reach the client
        return {"workflows": []}

    def inspect_workflow(self, request: InspectWorkflow) -> Reply:
        raise RuntimeError(request.workflow_id)

    def start_workflow(self, request: StartWorkflow) -> Reply:
        return {"isComplete": False, "pending": None, "goal": request.goal}

    def continue_workflow(self, request: ContinueWorkflow) -> Reply:
        match request.continue_token:
            case "st_wait":
                assert self.go.wait(SECONDS_MAX)
            case "st_go":
                self.go.set()
            case "st_surrogate":
                return {"kind": "ok", "text": "\ud800"}
            case _:
                pass
        return {"kind": "ok", "isComplete": True, "pending": None}

    def continue_soon(self, request: ContinueWorkflow) -> Reply | None:
        return self.continue_workflow(request)

    def checkpoint_workflow(self, request: CheckpointWorkflow) -> Reply:
        raise InvalidInput(f"{request.checkpoint_token} in /home/someone/x", remedy="Send another.")

    def resume_session(self, request: ResumeSession) -> Reply:
        return {"candidates": [], "totalEligible": len(request.query or "")}

    def manage_workflow_source(self, request: ManageWorkflowSource) -> Reply:
        return {"action": request.action, "path": request.path}

    def tell_session(self, name: str) -> Reply:
        return {"sessionId": name}


if __name__ == "__main__":
    serve_stdio(build_server(RoteVerbs(), "0", "/home/someone"))
    sys.exit(0)
