package openairesponses_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// longArgs is an argument text whose copies are recognised by their spelling.
var longArgs = `{"path":"src/größe 😀","content":"` + strings.Repeat(`line\n\t\"x\" `, 200) + `end"}`

// Proves W43, L5, F8, I8: a copy of long arguments may have another spelling, but must be the same
// value; a different copy denies the call, at any position and with any difference. The judged text
// is executed.
func TestCopiesOfLongArguments(t *testing.T) {
	encoded := quote(longArgs)
	copies := []struct{ name, text, code string }{
		{"spelled alike", encoded, "allowed"},
		{"escaped more", strings.Replace(encoded, "src", `sr\u0063`, 1), "allowed"},
		{"escaped otherwise", strings.Replace(encoded, "src/", `src\/`, 1), "allowed"},
		{"another byte", strings.Replace(encoded, "src", "srd", 1), "envelope_mismatch"},
		{"another byte at the end", strings.Replace(encoded, "end", "enD", 1), "envelope_mismatch"},
		{"an escape less", strings.Replace(encoded, "src", "srcx", 1), "envelope_mismatch"},
		{"shorter", quote(longArgs[:len(longArgs)-1]), "envelope_mismatch"},
		{"longer", quote(longArgs + " "), "envelope_mismatch"},
		{"empty", `""`, "envelope_mismatch"},
		{"no text", `{}`, "protocol_violation"},
	}
	places := map[string]func(s *script, text string) string{
		"arguments.done": func(s *script, text string) string {
			s.event("response.function_call_arguments.done", `"output_index":0,"item_id":"fc_a","arguments":%s`, text)
			return s.done(function("a", longArgs)).call("b", "{}").completed()
		},
		"item": func(s *script, text string) string {
			return s.whole(0, "fc_a", longArgs).done(strings.Replace(function("a", longArgs), encoded, text, 1)).call("b", longArgs).completed()
		},
		"response": func(s *script, text string) string {
			s.whole(0, "fc_a", longArgs).done(function("a", longArgs)).call("b", longArgs)
			s.final[0] = strings.Replace(s.final[0], encoded, text, 1)
			return s.completed()
		},
	}
	for place, finish := range places {
		for _, c := range copies {
			t.Run(place+"/"+c.name, func(t *testing.T) {
				s := begin().added(function("a", ""))
				for i := 0; i < len(longArgs); i += 100 {
					s.delta(0, "fc_a", strings.ToValidUTF8(longArgs[i:min(i+100, len(longArgs))], "?"))
				}
				r := play(t, codec.NewGate(t), request(t), provider.Options{}, finish(s, c.text))
				if got, _, _ := strings.Cut(codes(r.Gate), " "); got != c.code {
					t.Fatalf("the call is %s, want %s", codes(r.Gate), c.code)
				}
				m := legal(t, r)
				for _, call := range m.calls() {
					if call.args != longArgs && call.args != "{}" {
						t.Errorf("the client runs %s", call.args)
					}
				}
				if want := c.code == "allowed"; (len(m.calls()) == 2) != want {
					t.Errorf("the client has %d calls", len(m.calls()))
				}
			})
		}
	}
}

// Proves F13: strings of the length of a call's arguments, in an event full of them, cost no more
// than reading them, and are not changed.
func TestManyStringsOfOneLength(t *testing.T) {
	other := quote(strings.Replace(longArgs, "end", "enD", 1))
	s := begin().added(function("a", "")).delta(0, "fc_a", longArgs).whole(0, "fc_a", longArgs)
	item := strings.TrimSuffix(function("a", longArgs), "}") + `,"x":[` + strings.Repeat(other+",", 2000) + other + `]}`
	upstream := s.done(item).completed()
	r := play(t, codec.NewGate(t), request(t), provider.Options{}, upstream)
	if m := legal(t, r); codes(r.Gate) != "allowed" || len(m.calls()) != 1 || strings.Count(r.Out, other) < 2001 {
		t.Errorf("%s, %d of the strings", codes(r.Gate), strings.Count(r.Out, other))
	}
}
