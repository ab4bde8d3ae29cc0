package provider_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

func value(t *testing.T, text string) jsonstream.Value {
	t.Helper()
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// Proves B10, H5: the arguments of a call in a history are those that were released.
func TestPastCallArguments(t *testing.T) {
	for _, c := range []struct {
		form       provider.ArgsForm
		held, want string
	}{
		{provider.ArgsText, `"{\"a\":1}"`, `{"a":1}`}, {provider.ArgsText, `""`, `{}`}, {provider.ArgsText, `null`, `{}`}, {provider.ArgsText, `"no JSON"`, `no JSON`},
		{provider.ArgsText, `{"a":1}`, `{"a":1}`},
		{provider.ArgsObject, `{"a":1}`, `{"a":1}`}, {provider.ArgsObject, `{}`, `{}`},
		{provider.ArgsInput, `"free \"text\""`, `{"input":"free \"text\""}`}, {provider.ArgsInput, `7`, `7`},
	} {
		p := provider.NewPastCall("c", "t", value(t, c.held), c.form)
		if got := string(p.Args()); got != c.want || !p.HasArgs() {
			t.Errorf("%s as %d: %s, want %s", c.held, c.form, got, c.want)
		}
	}
	if p := provider.NewPastCall("c", "t", jsonstream.Value{}, provider.ArgsNone); p.HasArgs() {
		t.Error("a call without arguments has some")
	}
}

// Proves X13, G7: the text of a result is its string or the text of all its parts.
func TestPastResultText(t *testing.T) {
	for content, want := range map[string]string{
		`"a\nb"`: "a\nb", `""`: "", `{"a":1}`: `{"a":1}`, `7`: "7", `null`: "null", `[]`: "",
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`:  "a\nb",
		`[{"type":"text","text":"a"},{"type":"image","data":"x"}]`: `[{"type":"text","text":"a"},{"type":"image","data":"x"}]`,
		`[{"type":"image","data":"x"},{"type":"text","text":"a"}]`: `[{"type":"image","data":"x"},{"type":"text","text":"a"}]`,
		`[{"type":"text","text":["a"]}]`:                           `[{"type":"text","text":["a"]}]`,
		`["a"]`:                                                    `["a"]`,
	} {
		r := provider.PastResult{Content: value(t, content)}
		if got := string(r.Text()); got != want {
			t.Errorf("%s says %q, want %q", content, got, want)
		}
	}
}

// Proves D25-42, G7: a withheld result is replaced completely, in the form that the dialect
// requires.
func TestPastResultReplace(t *testing.T) {
	const body = `{"a":1,"content":["secret"],"b":2}`
	content, _ := value(t, body).Get("content")
	parts := func(quoted []byte) []byte { return fmt.Appendf(nil, `[{"text":%s}]`, quoted) }
	for _, c := range []struct {
		result provider.PastResult
		want   string
	}{
		{provider.PastResult{Content: content}, `{"a":1,"content":"no \"access\"","b":2}`},
		{provider.PastResult{Content: content, WrapText: parts}, `{"a":1,"content":[{"text":"no \"access\""}],"b":2}`},
		{provider.PastResult{}, body},
	} {
		var edits provider.Edits
		c.result.Replace(&edits, []byte(`no "access"`))
		if got := string(edits.AppendTo(nil, []byte(body), 0, len(body))); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Proves H5, F3: a result belongs to the latest call with its id, or with an alias of it.
func TestPastCallsFindTheCallOfAResult(t *testing.T) {
	failed := provider.PastResult{Failed: true}
	spell := func(l *provider.PastCalls) (text string) {
		for _, p := range l.Calls {
			text += fmt.Sprintf("%s/%s/%t:%d ", p.Call, p.Tool, p.MaybeItem, len(p.Results))
		}
		return text
	}
	call := func(id stopgate.CallID, tool stopgate.ToolName) provider.PastCall {
		return provider.PastCall{Call: id, Tool: tool}
	}
	for name, c := range map[string]struct {
		do   func(l *provider.PastCalls)
		want string
	}{
		"its own":    {func(l *provider.PastCalls) { l.Add(call("a", "x")); l.Add(call("b", "y")); l.AddResult("a", failed) }, "a/x/false:1 b/y/false:0 "},
		"twice":      {func(l *provider.PastCalls) { l.Add(call("a", "x")); l.AddResult("a", failed); l.AddResult("a", failed) }, "a/x/false:2 "},
		"of nobody":  {func(l *provider.PastCalls) { l.Add(call("a", "x")); l.AddResult("b", failed); l.AddResult("b", failed) }, "a/x/false:0 b//false:2 "},
		"first":      {func(l *provider.PastCalls) { l.AddResult("a", failed) }, "a//false:1 "},
		"the newest": {func(l *provider.PastCalls) { l.Add(call("a", "x")); l.Add(call("a", "y")); l.AddResult("a", failed) }, "a/x/false:0 a/y/false:1 "},
		"of a message": {func(l *provider.PastCalls) {
			l.Add(call("a", "x"))
			l.StartMessage()
			l.AddResult("a", failed)
		}, "a/x/false:0 a//false:1 "},
		"by the item":             {func(l *provider.PastCalls) { l.Add(call("a", "x")); l.AddAlias("i"); l.AddItemResult("i", failed) }, "a/x/false:1 "},
		"by no item":              {func(l *provider.PastCalls) { l.Add(call("a", "x")); l.AddAlias(""); l.AddItemResult("", failed) }, "a/x/false:0 //true:1 "},
		"by an item that is none": {func(l *provider.PastCalls) { l.AddAlias("i"); l.AddItemResult("i", failed) }, "i//true:1 "},
	} {
		l := new(provider.PastCalls)
		c.do(l)
		if got := spell(l); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Proves H6: two conversations have the same hash only if their texts are the same.
func TestHistoryHash(t *testing.T) {
	type message struct{ who, content string }
	hints := func(more string, list ...message) provider.Hints {
		s := new(provider.HistoryHash)
		for _, m := range list {
			if m.who == "system" {
				s.System(value(t, m.content))
			} else {
				s.User(value(t, m.content))
			}
		}
		return s.Hints(more)
	}
	seen := map[string]string{}
	for name, list := range map[string][]message{
		"one":            {{"user", `"ab"`}},
		"another":        {{"user", `"ac"`}},
		"in parts":       {{"user", `[{"text":"a"},{"text":"b"}]`}},
		"in other parts": {{"user", `[{"text":"ab"},{"text":""}]`}},
		"a system text":  {{"system", `"ab"`}, {"user", `"ab"`}},
		"two of them":    {{"system", `"a"`}, {"system", `"b"`}, {"user", `"ab"`}},
		"one part":       {{"user", `"a b"`}},
		"no text":        {{"user", `""`}},
		"cut elsewhere":  {{"system", `"a"`}, {"user", `"bab"`}},
	} {
		h := hints("", list...)
		if other, ok := seen[h.OpeningHash]; ok || h.OpeningHash == "" || h.UserMessageHash == "" {
			t.Errorf("%s looks like %s (%q, %q)", name, other, h.OpeningHash, h.UserMessageHash)
		}
		seen[h.OpeningHash] = name
	}
	first, second := hints("", message{"user", `"a"`}), hints("", message{"user", `"a"`}, message{"system", `"late"`}, message{"user", `"a"`})
	if first.OpeningHash != second.OpeningHash || first.UserMessageHash == second.UserMessageHash {
		t.Error("a conversation that goes on is another one, or nobody spoke in it again")
	}
	if more := hints("x", message{"user", `"a"`}); more.UserMessageHash == first.UserMessageHash || more.OpeningHash != first.OpeningHash {
		t.Error("what is mixed into the newest message does not count")
	}
	if got := hints("x", message{"system", `"a"`}); got != (provider.Hints{}) {
		t.Errorf("nobody spoke: %+v", got)
	}
}
