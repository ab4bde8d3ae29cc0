package hook

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// BuildEvent returns the event that the host sends before it runs a tool, in a session with
// working directory dir. c has the host's names of the tool and its arguments; for an MCP
// server, Server is set and Tool is the server's own name of the tool. Empty members of c
// are omitted. If the arguments are not JSON, the event is one that Read rejects.
func (h *Host) BuildEvent(c stopgate.Call, dir string) []byte {
	name := h.defaultEvent
	for _, n := range []string{"PreToolUse", "BeforeTool", "preToolUse"} {
		if h.events[n] == Before {
			name = n
			break
		}
	}
	call, around := new(members), new(members)
	set := func(m *members, names []string, text string) {
		if text != "" && len(names) > 0 {
			m.str(names[0], text)
		}
	}
	if len(h.nestedMembers) == 0 {
		around = call
		call.str(h.fields.event[0], name)
	} else {
		around.str("hookName", name)
	}
	call.str(h.fields.tool[0], string(c.Tool))
	if len(c.Args) > 0 {
		args := c.Args
		if _, err := jsonstream.Parse(args, jsonstream.Options{MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent}); err != nil {
			args = []byte("?") // text that is not one value could change other members of the event
		}
		call.raw(h.fields.input[0], args)
	}
	if c.Server != "" {
		call.raw("mcp_context", new(members).str("server_name", string(c.Server)).str("tool_name", string(c.Tool)).end())
	}
	set(call, h.fields.id, string(c.ID))
	session := h.fields.session
	if len(h.nestedMembers) > 0 { // the outer event has another id
		session = session[len(session)-1:]
	}
	set(around, session, string(c.Session))
	set(around, h.fields.agent, string(c.Agent))
	set(around, h.fields.dir, dir)
	if len(h.nestedMembers) > 0 {
		around.raw(h.nestedMembers[0], call.end())
	}
	return around.line()
}

// NamesAgents reports whether events of the host name the agent that made a call.
func (h *Host) NamesAgents() bool { return len(h.fields.agent) > 0 }

// Preview returns the decision for a call with verdict v without requesting approvals; args
// are the arguments that would run. Action is Ask if an approval is needed, even if the
// host cannot ask.
func (h *Host) Preview(e *Event, v stopgate.Verdict, args []byte) Decision {
	a := Decision{Action: Abstain, Code: v.Code, Public: v.Public}
	switch {
	case v.Mode == stopgate.Deny, v.Mode == stopgate.Skip:
		return deniedDecision(stopgate.Outcome{Verdict: v})
	case v.Mode == stopgate.Unattended, e.isHarmlessUnknown(v):
	default:
		if a.Action = Ask; h.CanAsk {
			a.Public = askReason(&v)
		}
	}
	return h.withArgs(e, a, args)
}

// isHarmlessUnknown reports whether no policy covers the call and its tool has no effects,
// so that no approval is needed (S33).
func (e *Event) isHarmlessUnknown(v stopgate.Verdict) bool {
	return e.Harmless && v.Code == stopgate.CodePolicyNotConfigured
}
