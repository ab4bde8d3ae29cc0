package sdk

import "slices"

// chatCases are W7 to W23 as far as a library shows them.
func chatCases() []testCase {
	stream := func(name string, w want, parts ...[]string) testCase {
		return testCase{name: name, script: &script{api: "chat", events: slices.Concat(parts...)}, want: w}
	}
	end := func(finish string) []string { return []string{delta(0, "", finish), chatUsageChunk(), chatDone} }
	one := func(events ...string) []string { return events }
	text := chatText(preamble)
	lost := func(tool string) []string {
		return []string{preamble, "[stopgate] The tool call `" + tool + "` was not run: "}
	}
	full := func(index string, c toolCall) string {
		return callDelta(index + `"id":` + quote(c.ID) + `,"type":"function","function":{"name":` + quote(c.Name) + `,"arguments":` + quote(c.Args) + `}`)
	}
	cut := toolCall{"call_a", "a", `{"path":"src/a`}
	both := []toolCall{callA, callB}
	list := []testCase{
		stream("W8-interleaved", want{texts: []string{preamble, refused("a")}, calls: []toolCall{callB}, finish: "tool_calls"}, text, one(
			callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":""}`),
			callDelta(`"index":1,"id":"call_b","type":"function","function":{"name":"b","arguments":""}`),
			callDelta(`"index":0,"function":{"arguments":"{\"path\":"}`),
			callDelta(`"index":1,"function":{"arguments":`+quote(callB.Args[:10])+`}`),
			callDelta(`"index":0,"function":{"arguments":"\"denied\"}"}`),
			callDelta(`"index":1,"function":{"arguments":`+quote(callB.Args[10:])+`}`),
		), end("tool_calls")),
		stream("W9-index-0", want{texts: []string{preamble, refused("b")}, calls: []toolCall{callA}, finish: "tool_calls"}, text,
			one(full(`"index":0,`, callA), full(`"index":0,`, badB)), end("tool_calls")),
		stream("W10-index-negative", want{texts: []string{preamble}, calls: both, finish: "tool_calls"}, text,
			one(full(`"index":-1,`, callA), full(`"index":-1,`, callB)), end("tool_calls")),
		stream("W10-index-missing", want{texts: []string{preamble}, calls: both, finish: "tool_calls"}, text, one(full("", callA), full("", callB)), end("tool_calls")),
		stream("W10-two-open", want{texts: lost("a"), finish: "stop"}, text, one(
			callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":"{"}`),
			callDelta(`"index":1,"id":"call_b","type":"function","function":{"name":"b","arguments":"{"}`),
			callDelta(`"function":{"arguments":"\"path\":\"x\"}"}`),
		), end("tool_calls")),
		stream("W11-name-repeated", want{texts: []string{preamble}, calls: []toolCall{callA}, finish: "tool_calls"}, text, one(
			callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":""}`),
			callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":`+quote(callA.Args[:5])+`}`),
			callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":`+quote(callA.Args[5:])+`}`),
		), end("tool_calls")),
		stream("W11-name-changed", want{texts: lost("a"), finish: "stop"}, text, one(
			callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":""}`),
			callDelta(`"index":0,"function":{"name":"b","arguments":`+quote(callA.Args)+`}`),
		), end("tool_calls")),
		stream("W12-one-index-twice", want{texts: []string{preamble}, calls: []toolCall{callA}, finish: "tool_calls"}, text, one(
			delta(0, `"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":`+quote(callA.Args[:5])+`}},{"index":0,"function":{"arguments":`+quote(callA.Args[5:])+`}}]`, ""),
		), end("tool_calls")),
		stream("W13-null", want{texts: lost("a"), finish: "stop"}, text, one(full(`"index":0,`, toolCall{"call_a", "a", "null"})), end("tool_calls")),
		stream("W13-empty", want{texts: lost("a"), finish: "stop"}, text, one(full(`"index":0,`, toolCall{"call_a", "a", ""})), end("tool_calls")),
		stream("W13-array", want{texts: lost("a"), finish: "stop"}, text, one(full(`"index":0,`, toolCall{"call_a", "a", "[]"})), end("tool_calls")),
		stream("W16-cut-stop", want{texts: lost("a"), finish: "stop"}, text, chatCall(0, cut), end("stop")),
		stream("W16-cut-tool-calls", want{texts: lost("a"), finish: "stop"}, text, chatCall(0, cut), end("tool_calls")),
		stream("W16-cut-length", want{texts: lost("a"), finish: "length"}, text, chatCall(0, cut), end("length")),
		stream("W16-whole-length", want{texts: lost("a"), finish: "length"}, text, chatCall(0, callA), end("length")),
		stream("W17-no-finish", want{err: true}, text, chatCall(0, callA)),
		stream("W17-done-without-finish", want{err: true}, text, chatCall(0, callA), one(chatDone)),
		stream("W18-error", want{err: true}, text, chatCall(0, cut), one("data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\",\"param\":null,\"code\":\"overloaded\"}}\n\n")),
		stream("W19-content-and-call", want{texts: []string{preamble, "and more", refused("a")}, finish: "stop"}, text, one(
			delta(0, `"content":"and more","tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":`+quote(badA.Args)+`}}]`, ""),
		), end("tool_calls")),
		stream("W19-call-in-finish", want{texts: []string{preamble, refused("a")}, finish: "stop"}, text, one(
			delta(0, `"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":`+quote(badA.Args)+`}}]`, "tool_calls"), chatUsageChunk(), chatDone)),
		stream("W21-after-finish", want{texts: []string{preamble}, calls: []toolCall{callA}, finish: "tool_calls"}, text, chatCall(0, callA),
			one(delta(0, "", "tool_calls")), chatCall(1, callB), one(delta(0, `"content":"late"`, ""), chatDone, chatDone)),
		stream("W22-unknown-members", want{texts: []string{preamble}, finish: "stop"}, text,
			one(delta(0, `"reasoning":"hm","reasoning_details":[{"type":"x"}],"content":""`, ""), ": a comment\n\n"), end("stop")),
		stream("W23-duplicate-member", want{err: true}, text,
			one(callDelta(`"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":"{}","arguments":`+quote(callA.Args)+`}`)), end("tool_calls")),
	}
	reset := stream("W17-reset", want{err: true}, text, chatCall(0, callA))
	reset.cut = true
	withChoices := stream("W18-error-with-choices", want{loose: true}, text, chatCall(0, cut),
		one(chunk(`[{"index":0,"delta":{"content":""},"finish_reason":"error"}]`, `,"error":{"message":"overloaded","code":502}`), chatDone))
	two := stream("W7-two-choices", want{texts: []string{"zero", "\n", refused("a")}, finish: "stop"}, one(
		delta(0, `"role":"assistant","content":"zero\n"`, ""),
		delta(1, `"role":"assistant","content":"\n"`, ""),
		delta(1, `"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"a","arguments":`+quote(badA.Args)+`}}]`, ""),
		delta(0, "", "stop"), delta(1, "", "tool_calls"), chatUsageChunk(), chatDone))
	two.choices, two.once = 2, true
	for i := range list {
		if list[i].finish == "length" {
			list[i].raises = []string{"openai-python"} // its stream helper does, for want of parsable arguments
		}
	}
	return append(list, reset, withChoices, two)
}
