package replay_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/replay"
)

func copyAll(w io.Writer, res *http.Response) (int64, error) { return io.Copy(w, res.Body) }

func TestParseScenario(t *testing.T) {
	s, err := replay.ParseScenario("x", []byte(`
# a comment
model m
turn
say one
say
say two

call write
  path string a/b <c>
  n json {"k": [1, 2]}
  body text
    first "line"

    	second

  body repeat 2 row %d
  body string end
call none
turn
say bye
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Model != "m" || len(s.Turns) != 2 || s.Turns[0].Say != "one\n\ntwo" || s.Turns[1].Say != "bye" {
		t.Fatalf("%+v", s)
	}
	want := `{"path":"a/b <c>","n":{"k": [1, 2]},"body":"first \"line\"\n\n\tsecond\nrow 1\nrow 2\nend"}`
	if calls := s.Turns[0].Calls; len(calls) != 2 || calls[0].Args != want || calls[1].Args != "{}" {
		t.Errorf("calls %+v, want %s", calls, want)
	}
}

func TestScenarioMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no model", "turn\nsay x", "no line names the model"},
		{"no turn", "model x", "no turn"},
		{"say before a turn", "model x\nsay y", "x:2: say before the first turn"},
		{"call without a name", "model x\nturn\ncall", "x:3: call without a tool name"},
		{"argument without a call", "model x\nturn\n  a string b", "x:3: argument without a call"},
		{"unknown statement", "modle x", `x:1: unknown statement "modle"`},
		{"unknown kind", "model x\nturn\ncall t\n  a number 1", `x:4: unknown kind "number"`},
		{"broken JSON", "model x\nturn\ncall t\n  a json {", "x:4: argument a is not JSON"},
		{"broken count", "model x\nturn\ncall t\n  a repeat x y", "x:4: repeat wants a count"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := replay.ParseScenario("x", []byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
