"""smolagents: every tool of an agent goes through the gate, its managed agents and the code of a CodeAgent too.

    agent = guard(gate, ToolCallingAgent(tools=[...], model=model))
    agent.run("...")

A refused call does not run: the model reads why as its observation, and the run goes on. In a CodeAgent it raises
PermissionError, so that the code does not go on without the result. If the gate fails, nothing runs either.
"""

from __future__ import annotations

from typing import Any, TypeVar

from smolagents import CodeAgent, FinalAnswerTool, LocalPythonExecutor, MultiStepAgent, Tool
from smolagents.local_python_executor import CodeOutput, PythonExecutor

from stopgate_client import Gate, Session, StopgateError

from ._run import Report, Told, run

A = TypeVar("A", bound=MultiStepAgent)


def guard(gate: Gate, agent: A, *, session: Session | str | None = None) -> A:
    """Put the gate before everything that an agent can call, and return the agent.

    `session` is the session of the calls, by default the current one. Tools that are added later are not guarded.
    A piece of code is a call of the tool `python_interpreter` with the argument `code`: the policy has to allow it.
    smolagents' own `final_answer` runs nothing and is not judged. Raises StopgateError for a CodeAgent with a remote
    executor: it would run a copy of the tools elsewhere.
    """
    facts = {"session": session, "agent": agent.name}
    code = isinstance(agent, CodeAgent)
    if isinstance(agent, CodeAgent) and not isinstance(agent.python_executor, _Code):
        if not isinstance(agent.python_executor, LocalPythonExecutor):
            raise StopgateError(f"the executor {type(agent.python_executor).__name__} runs copies of the tools, which cannot be guarded: use the local one")
        agent.python_executor = _Code(gate, agent.python_executor, facts)
    for name, tool in agent.tools.items():
        if not isinstance(tool, _Guarded) and type(tool) is not FinalAnswerTool:
            agent.tools[name] = _Guarded(gate, tool, code, facts)
    for name, managed in agent.managed_agents.items():
        if isinstance(managed, MultiStepAgent):
            guard(gate, managed, session=session)
        if not isinstance(managed, _Guarded):
            agent.managed_agents[name] = _Guarded(gate, managed, code, facts)
    return agent


class _Guarded(Tool):
    """A tool or managed agent with the gate before it."""

    skip_forward_signature_validation = True

    def __init__(self, gate: Gate, tool: Any, raises: bool, facts: dict[str, Any]) -> None:
        self.name, self.description, self.inputs, self.output_type = tool.name, tool.description, tool.inputs, tool.output_type
        self.output_schema = getattr(tool, "output_schema", None)

        # The code of a CodeAgent can read attributes of its tools: the gate and the tool itself are in none.
        def judged(proposed: dict[str, Any], options: dict[str, bool]) -> Any:
            options = options if isinstance(tool, Tool) else {}
            found = run(gate, tool.name, proposed, lambda outcome: tool(**outcome.args, **options), Report(str), **facts)
            if isinstance(found, Told) and raises and found.status != "skipped":
                raise PermissionError(found.text)
            return found.text if isinstance(found, Told) else found

        self._judged = judged
        super().__init__()

    def __call__(self, *args: Any, sanitize_inputs_outputs: bool = False, **kwargs: Any) -> Any:
        """Judge a call, run it if it is allowed, and report its result."""
        if len(args) == 1 and not kwargs and isinstance(args[0], dict) and set(args[0]) <= set(self.inputs):
            proposed = args[0]
        else:
            proposed = dict(zip(self.inputs, args, strict=False)) | kwargs
            if len(proposed) != len(args) + len(kwargs):
                raise TypeError(f"{self.name} was not run: it has other parameters than the call")
        return self._judged(proposed, {"sanitize_inputs_outputs": True} if sanitize_inputs_outputs else {})


class _Code(PythonExecutor):
    """A local executor with the gate before it."""

    def __init__(self, gate: Gate, executor: PythonExecutor, facts: dict[str, Any]) -> None:
        self._gate, self._executor, self._facts = gate, executor, facts
        self.send_tools, self.send_variables = executor.send_tools, executor.send_variables  # type: ignore[method-assign]

    def send_tools(self, tools: dict[str, Tool]) -> None: ...

    def send_variables(self, variables: dict[str, Any]) -> None: ...

    def __call__(self, code_action: str) -> CodeOutput:
        """Judge a piece of code, run it if it is allowed, and report what it printed and returned."""
        report: Report[CodeOutput] = Report(lambda out: f"{out.logs}{out.output}")
        found = run(self._gate, "python_interpreter", {"code": code_action}, lambda o: self._executor(o.args["code"]), report, **self._facts)
        if not isinstance(found, Told):
            return found
        if not found.ran:
            raise PermissionError(found.text)
        return CodeOutput(output=found.text, logs="", is_final_answer=False)
