"""Policies as programs: stopgate asks a service that is written in Python.

    from stopgate_client.policy import Service, allow, deny

    service = Service(version="1")

    @service.gate("delete_*")
    def below_tmp(call):
        if str(call.args["path"]).startswith("/tmp/"):
            return allow("below_tmp")
        return deny("outside_tmp", "Only files below /tmp may be deleted.")

    service.serve("unix:///run/user/1000/policy.sock")

The table ``[[external]]`` of a policy file names the socket. Every failure denies: an exception, a
return value that is no decision, a tool that no function governs.
"""

from ._decision import Decision, Opinion, allow, ask, deny, judged
from ._events import Block, EventPolicy, Exchange, Rejected, Stream, ToolCall
from ._question import Call, Result
from ._server import Server
from ._service import Service
from ._session import SessionPolicy

__all__ = [
    "Block", "Call", "Decision", "EventPolicy", "Exchange", "Opinion", "Rejected", "Result", "Server", "Service",
    "SessionPolicy", "Stream", "ToolCall", "allow", "ask", "deny", "judged",
]
