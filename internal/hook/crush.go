package hook

// crush supports the hooks of crush. New arguments are merged member by member. Exit status
// 49 ends the turn.
func crush() *Host {
	return &Host{
		Name: "crush", Title: "crush", Rewrite: MergeArgs,
		Program: "crush", NotLive: "doctor has no recipe for crush that was proved with the real one",
		Settings: Settings{
			Form: Flat, User: ".config/crush/crush.json", Project: ".crush.json", Moved: Move{Variable: "XDG_CONFIG_HOME", Replaces: ".config"}, Comments: true,
			Events: []string{"PreToolUse"}, Members: `"timeout": 600`,
		},
		Limitations: []string{
			"if a hook crashes, is killed without its shell, or exceeds its timeout, the call runs",
			"calls of its agents (agent, agentic_fetch) run no hook: only the call that starts an agent is evaluated",
			limitOtherHooks,
			"a hook cannot make crush ask: calls that need an approval are denied, or approved with stopgate approvals",
			"results cannot be withheld from the model, and there is no event after a tool ran: session policies that depend on results receive none",
		},
		fields: fields{
			event: []string{"event", "hook_event_name"}, tool: []string{"tool_name"}, input: []string{"tool_input"},
			id: []string{"tool_call_id", "tool_use_id"}, session: []string{"session_id"}, dir: []string{"cwd"},
		},
		events:   map[string]Kind{"PreToolUse": Before, "pre_tool_use": Before},
		splitMCP: splitPrefixed("mcp_", "_"),
		format:   crushReply,
	}
}

// exitHalt is the exit status that ends the turn.
const exitHalt = 49

func crushReply(_ *Host, _ *Event, a Decision) Reply {
	m := new(members).raw("version", []byte("1"))
	switch {
	case a.Action == Abstain:
		return Reply{}
	case a.Action == Allow:
		return Reply{Stdout: m.str("decision", "allow").raw("updated_input", a.Input).line()}
	}
	m.str("decision", "deny")
	if a.Stop {
		m.flag("halt", true)
	}
	r := denyReply(a, m.str("reason", a.reason()))
	if a.Stop {
		r.Exit = exitHalt
	}
	return r
}
