package hook

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proposes is the host's event before it runs a tool: the call as the host calls tool and
// arguments, made by a session that works in dir. What the call leaves out, the event leaves
// out. A call with a server is one of an MCP server, and Tool then its own name there.
// Arguments that are no JSON make an event that cannot be read.
func (h *Host) Proposes(c stopgate.Call, dir string) []byte {
	name := h.event
	for _, n := range []string{"PreToolUse", "BeforeTool", "preToolUse"} {
		if h.events[n] == Before {
			name = n
			break
		}
	}
	call, around := new(members), new(members)
	say := func(m *members, names []string, text string) {
		if text != "" && len(names) > 0 {
			m.str(names[0], text)
		}
	}
	if len(h.nested) == 0 {
		around = call
		call.str(h.fields.event[0], name)
	} else {
		around.str("hookName", name)
	}
	call.str(h.fields.tool[0], string(c.Tool))
	if len(c.Args) > 0 {
		args := c.Args
		if _, err := jsonstream.Parse(args, jsonstream.Options{MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent}); err != nil {
			args = []byte("?") // what is not one value could say more of the event than what the arguments are
		}
		call.raw(h.fields.input[0], args)
	}
	if c.Server != "" {
		call.raw("mcp_context", new(members).str("server_name", string(c.Server)).str("tool_name", string(c.Tool)).end())
	}
	say(call, h.fields.id, string(c.ID))
	session := h.fields.session
	if len(h.nested) > 0 { // outside there is another id
		session = session[len(session)-1:]
	}
	say(around, session, string(c.Session))
	say(around, h.fields.agent, string(c.Agent))
	say(around, h.fields.dir, dir)
	if len(h.nested) > 0 {
		around.raw(h.nested[0], call.end())
	}
	return around.line()
}

// NamesAgents reports whether the events of the host say which agent made a call.
func (h *Host) NamesAgents() bool { return len(h.fields.agent) > 0 }

// Foresee is the answer to a call with a verdict, as far as nobody has to be asked for it;
// args are the arguments that may run. The Action of what a person has to decide is Ask,
// also where the host cannot ask.
func (h *Host) Foresee(e *Event, v stopgate.Verdict, args []byte) Answer {
	a := Answer{Action: Silent, Code: v.Code, Public: v.Public}
	switch {
	case v.Mode == stopgate.Deny, v.Mode == stopgate.Skip:
		return refused(stopgate.Outcome{Verdict: v})
	case v.Mode == stopgate.Unattended, e.passes(v):
	default:
		if a.Action = Ask; h.Asks {
			a.Public = asking(&v)
		}
	}
	return h.giving(e, a, args)
}

// passes reports whether a call that no policy knows needs no answer: its tool has no
// effects (DECISIONS S33).
func (e *Event) passes(v stopgate.Verdict) bool {
	return e.Harmless && v.Code == stopgate.CodePolicyNotConfigured
}
