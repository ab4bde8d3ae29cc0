package sdk

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// pacedCases are denials in every place of an answer, and one of a call that is longer
// than what is read behind a denial: calls behind it are never made.
func pacedCases(api string) []testCase {
	list := slices.DeleteFunc(common(api), func(c testCase) bool { return !strings.Contains(c.name, "-deny-") })
	long := toolCall{badA.ID, badA.Name, `{"path":"denied","content":"` + strings.Repeat("x", 16<<10) + `"}`}
	stopped := "The answer was stopped at this call"
	return append(list, testCase{name: api + "-deny-long", script: say(api, preamble, long, callB),
		want: want{texts: []string{preamble, refused("a"), stopped}, finish: finishes[api][1]}})
}

// What a denial costs the rest of an answer does not depend on how fast the model writes:
// every library sees the same calls, texts, finish and usage at any pace, and sends back a
// history, or continues a response, that the provider takes.
func TestPaced(t *testing.T) {
	scripts := map[string]*script{}
	cases := map[string][]testCase{}
	for _, api := range []string{"chat", "responses", "messages"} {
		cases[api] = pacedCases(api)
		for _, c := range cases[api] {
			scripts[c.name] = c.script
		}
	}
	p := newProvider(t, scripts)
	g := gate.Up(t, gate.Build(t), p.URL, policy, "ANNA_TOKEN="+token)
	t.Run("group", func(t *testing.T) {
		for _, cl := range clients(t) {
			for _, pace := range []framing{"1ms", "5ms", "20ms", "50ms"} {
				t.Run(cl.name+"/"+cl.kind+"/"+string(pace), func(t *testing.T) {
					t.Parallel()
					for _, c := range cases[cl.api] {
						j := job{Client: cl.kind, Base: g.URL, Model: c.name + "/" + string(pace), Stream: true, Next: cl.following(c)}
						t.Run(c.name, func(t *testing.T) { cl.compare(t, c, cl.library.do(t, j), j) })
						if j.Continued = cl.api == "responses" && j.Next != ""; j.Continued {
							t.Run(c.name+"/continued", func(t *testing.T) { cl.compare(t, c, cl.library.do(t, j), j) })
						}
					}
				})
			}
		}
	})
}
