package sdk

import "slices"

// messagesCases are W27 to W38 as far as a library shows them.
func messagesCases() []testCase {
	stream := func(name string, w want, parts ...[]string) testCase {
		return testCase{name: name, script: &script{api: "messages", events: slices.Concat(append([][]string{{messageStart()}}, parts...)...)}, want: w}
	}
	one := func(events ...string) []string { return events }
	text := textBlock(0, preamble)
	lost := []string{preamble, "[stopgate] The tool call `a` was not run: "}
	cut := one(toolStart(1, callA), inputDelta(1, `{"path":"src/a`), blockStop(1))
	thinking := one(
		blockStart(0, `{"type":"thinking","thinking":"","signature":""}`),
		blockDelta(0, `"type":"thinking_delta","thinking":"hm"`),
		blockDelta(0, `"type":"signature_delta","signature":"c2lnbmF0dXJl"`),
		blockStop(0),
		blockStart(1, `{"type":"redacted_thinking","data":"aGlkZGVu"}`),
		blockStop(1),
	)
	search := one(
		blockStart(1, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`),
		inputDelta(1, `{"query":"x"}`), blockStop(1),
		blockStart(2, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`), blockStop(2),
	)
	unnamed := []string{}
	for _, e := range slices.Concat([]string{messageStart()}, text, toolBlock(1, badA), toolBlock(2, callB), messageEnd("tool_use")) {
		_, data, _ := cutLine(e)
		unnamed = append(unnamed, data)
	}
	list := []testCase{
		stream("W27-thinking", want{texts: []string{preamble, refused("b")}, calls: []toolCall{callA}, finish: "tool_use"}, thinking, textBlock(2, preamble), toolBlock(3, callA), toolBlock(4, badB), messageEnd("tool_use")),
		stream("W27-thinking-all", want{texts: []string{refused("a")}, finish: "end_turn"}, thinking, toolBlock(2, badA), messageEnd("tool_use")),
		stream("W28-interleaved", want{texts: []string{preamble, refused("a")}, calls: []toolCall{callB}, finish: "tool_use"}, text, one(
			toolStart(1, badA), toolStart(2, callB), inputDelta(1, badA.Args[:5]), inputDelta(2, callB.Args[:9]),
			inputDelta(1, badA.Args[5:]), inputDelta(2, callB.Args[9:]), blockStop(1), blockStop(2)), messageEnd("tool_use")),
		stream("W29-text-behind", want{texts: []string{preamble, refused("a"), "afterwards"}, finish: "end_turn"}, text, toolBlock(1, badA), textBlock(2, "afterwards"), messageEnd("tool_use")),
		stream("W30-cut-tool-use", want{texts: lost, finish: "end_turn"}, text, cut, messageEnd("tool_use")),
		stream("W30-cut-end-turn", want{texts: lost, finish: "end_turn"}, text, cut, messageEnd("end_turn")),
		stream("W30-cut-max-tokens", want{texts: lost, finish: "max_tokens"}, text, cut, messageEnd("max_tokens")),
		stream("W31-no-deltas", want{texts: lost, finish: "end_turn"}, text, one(toolStart(1, callA), blockStop(1)), messageEnd("tool_use")),
		stream("W31-no-deltas-max-tokens", want{texts: lost, finish: "max_tokens"}, text, one(toolStart(1, callA), blockStop(1)), messageEnd("max_tokens")),
		stream("W32-two-inputs", want{texts: lost, finish: "end_turn"}, text, one(
			blockStart(1, `{"type":"tool_use","id":"call_a","name":"a","input":{"path":"other"}}`), inputDelta(1, callA.Args), blockStop(1)), messageEnd("tool_use")),
		stream("W33-no-message-delta", want{err: true}, text, toolBlock(1, callA)),
		stream("W33-no-message-stop", want{err: true}, text, toolBlock(1, callA), messageEnd("tool_use")[:1]),
		stream("W33-open-block", want{loose: true}, text, one(toolStart(1, callA), inputDelta(1, callA.Args)), messageEnd("tool_use")),
		stream("W34-error", want{err: true}, text, one(toolStart(1, callA), inputDelta(1, callA.Args),
			named("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))),
		stream("W35-server-tool", want{texts: []string{preamble, refused("a")}, finish: "end_turn"}, text, search, toolBlock(3, badA), messageEnd("tool_use")),
		stream("W36-caller", want{err: true}, text, one(
			blockStart(1, `{"type":"tool_use","id":"call_a","name":"a","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}}`),
			inputDelta(1, badA.Args), blockStop(1)), messageEnd("tool_use")),
		stream("W37-refusal", want{texts: []string{preamble}, finish: "refusal"}, text, messageEnd("refusal")),
		stream("W37-pause", want{texts: []string{preamble}, finish: "pause_turn"}, text, messageEnd("pause_turn")),
		{name: "W38-unnamed", script: &script{api: "messages", events: unnamed}, want: want{texts: []string{preamble, refused("a")}, calls: []toolCall{callB}, finish: "tool_use"}},
	}
	reset := stream("W33-reset", want{err: true}, text, toolBlock(1, callA))
	reset.cut = true
	for i := range list {
		if list[i].name == "W35-server-tool" {
			list[i].raises, list[i].shows = []string{"langchain-node"}, []string{"ai"}
		}
	}
	return append(list, reset)
}

// cutLine takes the first line off.
func cutLine(s string) (line, rest string, ok bool) {
	for i := range s {
		if s[i] == '\n' {
			return s[:i+1], s[i+1:], true
		}
	}
	return s, "", false
}
