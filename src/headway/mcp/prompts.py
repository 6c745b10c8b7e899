"""Prompts: what a user picks from a menu of the client to set an agent to work."""

from collections.abc import Mapping
from typing import Final

from mcp.types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from headway.application.faults import InvalidInput
from headway.mcp.checking import near

START: Final = "headway:start"
RESUME: Final = "headway:resume"
ARGUMENT_CHARACTERS_MAX: Final = 8_000

PROMPTS: Final = [
    Prompt(
        name=START,
        title="Work through a workflow",
        description="Start a workflow for a goal and follow it to its end.",
        arguments=[
            PromptArgument(name="goal", description="What is to be achieved.", required=True),
            PromptArgument(name="workflow", description="Its id; else the best fit is chosen."),
        ],
    ),
    Prompt(
        name=RESUME,
        title="Take up a session",
        description="Find an earlier session and go on where it stands.",
        arguments=[
            PromptArgument(name="query", description="Words from its goal or notes, or its id.")
        ],
    ),
]

_FOLLOW: Final = (
    "Follow it step by step to its end: do each step fully, hand it in with continue_workflow and "
    "the newest continueToken, and stop where a person is to decide."
)


def get_prompt(name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """Return a prompt's text. Raises InvalidInput for an unknown name or unfit arguments."""
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        names = [each.name for each in PROMPTS]
        raise InvalidInput(
            f"There is no prompt {name[:80]!a}.",
            remedy=f"Use one of {', '.join(near(name, names) or names)}.",
        )
    _check(prompt, arguments)
    text = _start(arguments) if name == START else _resume(arguments)
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=prompt.description, messages=[message])


def _check(prompt: Prompt, arguments: Mapping[str, str]) -> None:
    known = {each.name: each.required is True for each in prompt.arguments or ()}
    unknown = [name for name in arguments if name not in known]
    missing = [name for name, must in known.items() if must and not arguments.get(name, "").strip()]
    long = [name for name, text in arguments.items() if len(text) > ARGUMENT_CHARACTERS_MAX]
    if not unknown and not missing and not long:
        return
    told = [
        *(f"{name[:80]!a} is not known here" for name in unknown),
        *(f"{name} is required but was not given" for name in missing),
        *(f"{name[:80]} is longer than {ARGUMENT_CHARACTERS_MAX} characters" for name in long),
    ]
    raise InvalidInput(
        f"The arguments of {prompt.name} cannot be used: {'; '.join(told)}.",
        remedy=f"It takes {', '.join(known)}.",
    )


def _start(arguments: Mapping[str, str]) -> str:
    goal, workflow = arguments["goal"].strip(), arguments.get("workflow", "").strip()
    if workflow:
        first = f"Call Headway's start_workflow with the workflowId {workflow!r}"
    else:
        first = (
            "Call Headway's list_workflows, choose what fits the goal, and start_workflow with it"
        )
    return f"{first}, the workspacePath of this project and this goal:\n\n{goal}\n\n{_FOLLOW}"


def _resume(arguments: Mapping[str, str]) -> str:
    query = arguments.get("query", "").strip()
    about = f" and the query {query!r}" if query else ""
    return (
        f"Call Headway's resume_session with the workspacePath of this project{about}. If one "
        "candidate is clearly meant, make its next call and go on with the step; else ask me which "
        f"one. {_FOLLOW}"
    )
