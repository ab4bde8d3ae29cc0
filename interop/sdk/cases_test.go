package sdk

import "slices"

// want is what a program must see through its library.
type want struct {
	texts  []string // in this order in the text, whatever stands between them
	calls  []toolCall
	finish string // as the API writes it
	tokens int    // of the completion; 0: not looked at
	err    bool   // the library reports an error
	// loose lets a library report an error or none: it shows no call either way.
	loose bool
}

// testCase is a script and what comes of it.
type testCase struct {
	name string
	*script
	want
	choices int  // how many answers are asked for
	once    bool // there is no next turn
	// raises are libraries that report an error for what is none in the API, and
	// shows those that take a tool of the provider for a call.
	raises, shows []string
}

// Calls that the policy allows and denies.
var (
	callA = toolCall{"call_a", "a", `{"path":"src/a.go"}`}
	callB = toolCall{"call_b", "b", `{"path":"src/\u00e9 b\n.go"}`}
	callC = toolCall{"call_c", "c", `{"path":"c"}`}
	badA  = toolCall{"call_a", "a", `{"path":"denied"}`}
	badB  = toolCall{"call_b", "b", `{"path":"denied"}`}
	badC  = toolCall{"call_c", "c", `{"path":"denied"}`}
)

const preamble = "Let me see."

func refused(tool string) string { return denial(tool, "not this one", "rule_matched") }

// finishes are the names of "the model wants tools" and of the normal end.
var finishes = map[string][2]string{"chat": {"tool_calls", "stop"}, "messages": {"tool_use", "end_turn"}, "responses": {"completed", "completed"}, "gemini": {"STOP", "STOP"}}

// common are the cases that all APIs share: W1 to W5, W24 to W26, W40 to W42.
func common(api string) (list []testCase) {
	tools, end := finishes[api][0], finishes[api][1]
	add := func(name string, calls, survive []toolCall, denied ...string) {
		finish := tools
		if len(survive) == 0 {
			finish = end
		}
		texts := []string{preamble}
		for _, d := range denied {
			texts = append(texts, refused(d))
		}
		list = append(list, testCase{name: api + "-" + name, script: say(api, preamble, calls...), want: want{texts: texts, calls: survive, finish: finish, tokens: 42}})
	}
	add("text", nil, nil)
	add("allow", []toolCall{callA, callB}, []toolCall{callA, callB})
	add("deny-first", []toolCall{badA, callB}, []toolCall{callB}, "a")
	add("deny-last", []toolCall{callA, badB}, []toolCall{callA}, "b")
	add("deny-middle", []toolCall{callA, badB, callC}, []toolCall{callA, callC}, "b")
	add("deny-two", []toolCall{badA, callB, badC}, []toolCall{callB}, "a", "c")
	add("deny-all", []toolCall{badA, badB}, nil, "a", "b")
	return list
}

// allCases are the cases of an API.
func allCases(api string) []testCase {
	switch api {
	case "chat":
		return slices.Concat(common(api), chatCases())
	case "messages":
		return slices.Concat(common(api), messagesCases())
	default:
		return slices.Concat(common(api), responsesCases())
	}
}
