package openaichat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
)

// chunks returns a stream of one choice: each delta is the text of a delta object, finish is the
// reason, "" for none.
func chunks(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(chunkOf(0, d, "null"))
	}
	if finish != "" {
		b.WriteString(chunkOf(0, "{}", `"`+finish+`"`))
	}
	return b.String() + "data: [DONE]\n\n"
}

func chunkOf(choice int, delta, finish string) string {
	return fmt.Sprintf(`data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":%d,"delta":%s,"finish_reason":%s}]}`+"\n\n", choice, delta, finish)
}

func entries(list ...string) string { return `{"tool_calls":[` + strings.Join(list, ",") + `]}` }

// Proves F1, F2, F3, F4, F5, F7, W8, W9, W10, W11, W12, W13, A14: one row for each way in which
// chunks carry calls. The log has the events for the sink; want is the client's result.
func TestAssembly(t *testing.T) {
	type row struct {
		name   string
		deltas []string
		finish string
		o      provider.Options
		log    string
		want   string // calls of the client: name(args) by id
		denied []string
	}
	for _, c := range []row{
		{name: "id, type and name only in the first delta (OpenAI)",
			deltas: []string{
				entries(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":""}}`),
				entries(`{"index":0,"function":{"arguments":"{\"pa"}}`), entries(`{"index":0,"function":{"arguments":"th\":\"x\"}"}}`)},
			want: `i:a({"path":"x"})`},
		{name: "several entries in one array, different indexes, array order",
			deltas: []string{entries(`{"index":1,"id":"j","function":{"name":"b","arguments":"{\"n\":1}"}}`, `{"index":0,"id":"i","function":{"name":"a","arguments":"{\"n\":2}"}}`)},
			want:   `j:b({"n":1}) i:a({"n":2})`},
		{name: "F4: two entries with the same index in one chunk are merged in order",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"pa"}}`, `{"index":0,"function":{"arguments":"th\":1}"}}`)},
			want:   `i:a({"path":1})`},
		{name: "F3: same index, new id, behind a complete call",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"n\":{}}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			want:   `i:a({"n":{}}) j:b({})`},
		{name: "F3: same index, new id, behind an incomplete call: both",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"n\":"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			denied: []string{"a:protocol_violation", "b:protocol_violation"}},
		{name: "F3: same index, new id, behind a call without arguments: both",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			denied: []string{"a:protocol_violation", "b:protocol_violation"}},
		{name: "F3: same index, new id, behind a call with data after its object: both",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{} {}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			denied: []string{"a:trailing_data", "b:protocol_violation"}},
		{name: "F3: a bracket in a string does not complete a call",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"n\":\"\\\"}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			denied: []string{"a:protocol_violation", "b:protocol_violation"}},
		{name: "same id repeated in every delta",
			deltas: []string{entries(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{"}}`), entries(`{"index":0,"id":"i","type":"function","function":{"arguments":"}"}}`)},
			want:   `i:a({})`},
		{name: "F5: same index, no id, another name",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0,"function":{"name":"b","arguments":"{}"}}`)},
			denied: []string{"a:protocol_violation"}},
		{name: "F5: name repeated with the same value",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{"}}`), entries(`{"index":0,"function":{"name":"a","arguments":"}"}}`)},
			want:   `i:a({})`},
		{name: "F5: name split over deltas",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"re","arguments":""}}`), entries(`{"index":0,"function":{"name":"ad_file","arguments":"{}"}}`)},
			denied: []string{"re:protocol_violation"}},
		{name: "empty name and id in later deltas are no values",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{"}}`), entries(`{"index":0,"id":"","type":"","function":{"name":"","arguments":"}"}}`)},
			want:   `i:a({})`},
		{name: "null is absence everywhere",
			deltas: []string{entries(`{"index":null,"id":"i","type":null,"function":{"name":"a","arguments":null},"custom":null}`), entries(`{"index":null,"id":null,"function":{"name":null,"arguments":"{}"}}`)},
			want:   `i:a({})`},
		{name: "W10: index missing, ids",
			deltas: []string{entries(`{"id":"i","function":{"name":"a","arguments":"{"}}`), entries(`{"id":"j","function":{"name":"b","arguments":"{}"}}`), entries(`{"id":"i","function":{"arguments":"}"}}`)},
			want:   `i:a({}) j:b({})`},
		{name: "W10: index missing, no id, one call open",
			deltas: []string{entries(`{"id":"i","function":{"name":"a","arguments":"{"}}`), entries(`{"function":{"arguments":"}"}}`)},
			want:   `i:a({})`},
		{name: "W10: index missing, no id, two open: all of them",
			deltas: []string{entries(`{"id":"i","function":{"name":"a","arguments":"{}"}}`, `{"id":"j","function":{"name":"b","arguments":"{}"}}`), entries(`{"function":{"arguments":" "}}`)},
			denied: []string{"a:protocol_violation", "b:protocol_violation"}},
		{name: "index and id missing, nothing open: a call",
			deltas: []string{entries(`{"function":{"name":"a","arguments":"{}"}}`)},
			want:   `call_made_up_1:a({})`},
		{name: "W10: index -1 is missing",
			deltas: []string{entries(`{"index":-1,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":-1,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			want:   `i:a({}) j:b({})`},
		{name: "index -0 is 0",
			deltas: []string{entries(`{"index":-0,"id":"i","function":{"name":"a","arguments":"{"}}`), entries(`{"index":0,"function":{"arguments":"}"}}`)},
			want:   `i:a({})`},
		{name: "index skips numbers",
			deltas: []string{entries(`{"index":7,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":255,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			want:   `i:a({}) j:b({})`},
		{name: "index 256",
			deltas: []string{entries(`{"index":256,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			want:   `j:b({})`, denied: []string{"a:protocol_violation"}},
		{name: "index not an integer: string, fraction, exponent, huge",
			deltas: []string{entries(`{"index":"0","id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0.0,"function":{"arguments":"x"}}`), entries(`{"index":1e0,"function":{"arguments":"x"}}`), entries(`{"index":99999999999999999999,"function":{"arguments":"x"}}`)},
			denied: []string{"a:protocol_violation"}},
		{name: "a broken index refuses the call that it names by id",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":true,"id":"i","function":{"arguments":""}}`)},
			denied: []string{"a:protocol_violation"}},
		{name: "whole arguments in the first delta",
			deltas: []string{entries(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{\"path\":\"x\"}"}}`)},
			want:   `i:a({"path":"x"})`},
		{name: "arguments before the name and the id",
			deltas: []string{entries(`{"index":0,"function":{"arguments":"{\"pa"}}`), entries(`{"index":0,"id":"i","function":{"arguments":"th\":1"}}`), entries(`{"index":0,"function":{"name":"a","arguments":"}"}}`)},
			want:   `i:a({"path":1})`},
		{name: "no name at the finish",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"arguments":"{}"}}`)},
			denied: []string{":protocol_violation"}},
		{name: "arguments are an object",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":{"path":"x"}}}`)},
			denied: []string{"a:protocol_violation"}},
		{name: "arguments are an object, and may be",
			o:      provider.Options{ObjectArguments: true},
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":{"path" : "x"}}}`)},
			want:   `i:a({"path":"x"})`},
		{name: "arguments are an array or a number, whatever is allowed",
			o:      provider.Options{ObjectArguments: true},
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":[]}}`, `{"index":1,"id":"j","function":{"name":"b","arguments":1}}`)},
			denied: []string{"a:protocol_violation", "b:protocol_violation"}},
		{name: "W13, A14: empty, missing and null arguments are given to the gate as nothing",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":""}}`, `{"index":1,"id":"j","function":{"name":"b"}}`, `{"index":2,"id":"k","function":{"name":"c","arguments":null}}`)},
			want:   `i:a({}) j:b({}) k:c({})`,
			log:    "0.0 start \"i\" \"a\"\n0.1 start \"j\" \"b\"\n0.2 start \"k\" \"c\"\n0.0 args {}\n0.0 ended ended \"i\"\n0.1 args {}\n0.1 ended ended \"j\"\n0.2 args {}\n0.2 ended ended \"k\"\nturn 0 ended\n"},
		{name: "W13, A15: null and [] as argument text",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"null"}}`, `{"index":1,"id":"j","function":{"name":"b","arguments":"[]"}}`)},
			denied: []string{"a:non_object_root", "b:non_object_root"}},
		{name: "id missing at the finish is made up",
			deltas: []string{entries(`{"index":0,"function":{"name":"a","arguments":"{}"}}`, `{"index":1,"id":"","function":{"name":"b","arguments":"{}"}}`)},
			want:   `call_made_up_1:a({}) call_made_up_2:b({})`},
		{name: "an id that comes late",
			deltas: []string{entries(`{"index":0,"function":{"name":"a","arguments":"{"}}`), entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"}"}}`)},
			want:   `i:a({})`},
		{name: "a late id with another name is another call",
			deltas: []string{entries(`{"index":0,"function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			want:   `call_made_up_1:a({}) j:b({})`},
		{name: "F3: one id for two calls: both",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`, `{"index":1,"id":"i","function":{"name":"b","arguments":"{}"}}`, `{"index":2,"id":"k","function":{"name":"c","arguments":"{}"}}`)},
			want:   `k:c({})`, denied: []string{"a:protocol_violation", "b:protocol_violation"}},
		{name: "F3: an index goes back to its first id",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`), entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`)},
			want:   `j:b({})`, denied: []string{"a:protocol_violation", "a:protocol_violation"}},
		{name: "W15: custom tool, text in pieces",
			deltas: []string{entries(`{"index":0,"id":"i","type":"custom","custom":{"name":"free","input":""}}`), entries(`{"index":0,"custom":{"input":"say \"hi\"\n"}}`), entries(`{"index":0,"custom":{"input":"größe 😀 \\"}}`)},
			want:   "i:free(say \"hi\"\ngröße 😀 \\)",
			log:    "0.0 start \"i\" \"free\"\n0.0 args {\"input\":\"say \\\"hi\\\"\\ngröße 😀 \\\\\"}\n0.0 ended ended \"i\"\nturn 0 ended\n"},
		{name: "custom tool without text",
			deltas: []string{entries(`{"index":0,"id":"i","type":"custom","custom":{"name":"free"}}`)},
			want:   "i:free()"},
		{name: "custom tool, text before the name",
			deltas: []string{entries(`{"index":0,"id":"i","type":"custom","custom":{"input":"te"}}`), entries(`{"index":0,"custom":{"name":"free","input":"xt"}}`)},
			want:   "i:free(text)"},
		{name: "F3: a new id behind a custom call: nobody knows that it was complete",
			deltas: []string{entries(`{"index":0,"id":"i","type":"custom","custom":{"name":"free","input":"{}"}}`), entries(`{"index":0,"id":"j","function":{"name":"b","arguments":"{}"}}`)},
			denied: []string{"free:protocol_violation", "b:protocol_violation"}},
		{name: "F7: function and custom in one entry",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"},"custom":{"name":"a","input":"x"}}`)},
			denied: []string{"a:envelope_mismatch"}},
		{name: "F7: function, then custom",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0,"custom":{"input":"x"}}`)},
			denied: []string{"a:envelope_mismatch"}},
		{name: "F7: type custom with a function",
			deltas: []string{entries(`{"index":0,"id":"i","type":"custom","function":{"name":"a","arguments":"{}"}}`)},
			denied: []string{"a:envelope_mismatch"}},
		{name: "unknown type (L14)",
			deltas: []string{entries(`{"index":0,"id":"i","type":"computer","function":{"name":"a","arguments":"{}"}}`)},
			denied: []string{"a:policy_not_configured"}},
		{name: "W14: legacy function_call",
			deltas: []string{`{"function_call":{"name":"a","arguments":"{\"n\""}}`, `{"function_call":{"arguments":":1}"}}`},
			finish: "function_call",
			want:   `call_made_up_1:a({"n":1})`},
		{name: "F7: legacy and tool_calls in one choice: all",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), `{"function_call":{"name":"b","arguments":"{}"}}`, entries(`{"index":1,"id":"j","function":{"name":"c","arguments":"{}"}}`)},
			denied: []string{"a:envelope_mismatch", "b:envelope_mismatch", "c:envelope_mismatch"}},
		{name: "F2, A12: bytes after the root object closed",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`), entries(`{"index":0,"function":{"arguments":",x"}}`)},
			denied: []string{"a:trailing_data"}},
		{name: "F1: interleaved parallel deltas",
			deltas: []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{\"path\":\"src/a\""}}`), entries(`{"index":1,"id":"j","function":{"name":"b","arguments":"{"}}`), entries(`{"index":0,"function":{"arguments":",\"x\":\".env\"}"}}`), entries(`{"index":1,"function":{"arguments":"}"}}`)},
			want:   `i:a({"path":"src/a","x":".env"}) j:b({})`},
		{name: "a name, id or carrier of a type that it cannot have",
			deltas: []string{entries(`{"index":0,"id":1,"function":{"name":"a","arguments":"{}"}}`, `{"index":1,"id":"j","function":{"name":1}}`, `{"index":2,"id":"k","type":1,"function":{"name":"c"}}`, `{"index":3,"id":"l","function":"x"}`)},
			denied: []string{"a:protocol_violation", ":protocol_violation", "c:protocol_violation", ":protocol_violation"}},
		{name: "an empty entry",
			deltas: []string{entries(`{}`)},
			denied: []string{":protocol_violation"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			finish := c.finish
			if finish == "" {
				finish = "tool_calls"
			}
			g := newGate(t)
			r := play(t, g, request(t, ""), c.o, chunks(finish, c.deltas...))
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			var denied, calls []string
			for _, j := range g.Calls {
				if j.Code != "" {
					denied = append(denied, string(j.Tool)+":"+string(j.Code))
				}
			}
			if strings.Join(denied, " ") != strings.Join(c.denied, " ") {
				t.Errorf("denied %q, want %q", denied, c.denied)
			}
			got, err := read(r.Out, true)
			if err != nil {
				t.Fatalf("%v in\n%s", err, r.Out)
			}
			for _, call := range got[0].tools {
				id := call.id
				if call.kind == "legacy" {
					id = "call_made_up_1" // the dialect has none; the record has one
				}
				calls = append(calls, fmt.Sprintf("%s:%s(%s)", id, call.name, call.args))
			}
			if strings.Join(calls, " ") != c.want {
				t.Errorf("calls  %q\nwanted %q", strings.Join(calls, " "), c.want)
			}
			if c.log != "" && g.Log.String() != c.log {
				t.Errorf("log:\n%swant:\n%s", g.Log.String(), c.log)
			}
			if err := truthful(got, map[int]bool{0: true}); err != nil {
				t.Error(err)
			}
		})
	}
}
