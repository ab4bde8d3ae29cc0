package texts_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gateway/texts"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// keeper is a gate that keeps the texts of conversations in full.
type keeper struct {
	off   bool
	fail  error
	lost  map[string]bool
	has   map[string][]string
	last  string // the texts of the last addition
	calls int
}

func (k *keeper) ReadsTexts() bool { return !k.off }

func (k *keeper) AddTexts(_ context.Context, o session.Owner, conversation string, t gate.Texts) error {
	k.calls++
	if k.fail != nil {
		return k.fail
	}
	if k.lost[conversation] && !t.Whole {
		return fmt.Errorf("add texts: %w", gate.ErrTextsLost)
	}
	delete(k.lost, conversation)
	var list []string
	for _, text := range t.List {
		if m := text.Message; m != nil {
			list = append(list, string(m.Source)+m.ID+":"+string(m.Text))
		} else if text.Result.Opaque {
			list = append(list, string(text.Result.Data)+"+")
		} else {
			list = append(list, string(text.Result.Data))
		}
	}
	if k.has == nil {
		k.has = map[string][]string{}
	}
	k.has[conversation] = append(k.has[conversation], list...)
	k.last = strings.Join(list, " ")
	if t.Whole {
		k.last = "whole " + k.last
		if t.Known != flow.KnowsUser|flow.KnowsSystem|flow.KnowsResults {
			k.last = "unknown " + k.last
		}
	} else if t.Known != 0 {
		k.last = "known " + k.last
	}
	return nil
}

// request makes a request of these texts: "s:" is a system text, "r:" a result, and others the
// person wrote.
func request(named bool, list ...string) texts.Request {
	r := texts.Request{Owner: session.Owner{Principal: "p", Session: "s"}, Named: named}
	for _, in := range list {
		t := texts.Text{Source: flow.User, Key: texts.KeyOf(in)}
		body, isSystem := strings.CutPrefix(in, "s:")
		_, isResult := strings.CutPrefix(in, "r:")
		switch {
		case isSystem:
			t.Source = flow.System
		case isResult:
			t.Source = flow.Tool
		}
		t.Read = func() (gate.Text, bool) {
			if isResult {
				return gate.Text{Result: &flow.Result{Data: []byte(in)}}, in != "r:withheld"
			}
			return gate.Text{Message: &flow.Message{Source: t.Source, Text: []byte(body)}}, true
		}
		r.List = append(r.List, t)
	}
	return r
}

// add reports a request and returns the conversation of its calls, and the report.
func add(t *testing.T, to *texts.Tracker, r texts.Request) (string, *texts.Report) {
	t.Helper()
	report := to.Begin(r)
	report.Add(t.Context())
	return report.Wait(), report
}

// A turn of a named session reports its new texts only, and all of them if the gate lost them or the
// client edited its history.
func TestNamedSession(t *testing.T) {
	k := &keeper{lost: map[string]bool{}}
	to := texts.New(k)
	for _, c := range []struct {
		name string
		in   []string
		lose bool
		want string
	}{
		{"the first turn", []string{"s:be", "a", "r:1"}, false, "whole system:be user:a r:1"},
		{"the next turn", []string{"s:be", "a", "r:1", "b", "r:2"}, false, "user:b r:2"},
		{"again", []string{"s:be", "a", "r:1", "b", "r:2"}, false, ""},
		{"other instructions", []string{"s:do", "a", "r:1", "b", "r:2", "c"}, false, "system:do user:c"},
		{"a withheld result", []string{"s:do", "a", "r:1", "b", "r:2", "c", "r:withheld", "d"}, false, "user:d"},
		{"an edited history", []string{"s:do", "A", "r:1"}, false, "user:A r:1"},
		{"compacted", []string{"s:do", "sum"}, false, "user:sum"},
		{"the same words again", []string{"s:do", "sum", "go", "go"}, false, "user:go user#2:go"},
		{"the same words a third time", []string{"s:do", "sum", "go", "go", "go"}, false, "user#3:go"},
		{"after the gate lost them", []string{"s:do", "sum", "go", "go", "go", "e"}, true, "whole system:do user:sum user:go user#2:go user#3:go user:e"},
		{"lost without a new text", []string{"s:do", "sum", "go", "go", "go", "e"}, true, "whole system:do user:sum user:go user#2:go user#3:go user:e"},
	} {
		k.lost[""] = c.lose
		conversation, _ := add(t, to, request(true, c.in...))
		if conversation != "" || k.last != c.want {
			t.Errorf("%s: %q in %q, want %q", c.name, k.last, conversation, c.want)
		}
	}
}

// Branches of a guessed session are conversations of their own: none has the texts of another.
func TestBranches(t *testing.T) {
	k := &keeper{}
	to := texts.New(k)
	first, _ := add(t, to, request(false, "a", "r:1"))
	again, _ := add(t, to, request(false, "a", "r:1"))
	longer, _ := add(t, to, request(false, "a", "r:1", "b"))
	if first == "" || again != first || longer != first || k.last != "user:b" {
		t.Fatalf("%q, %q, %q: %s", first, again, longer, k.last)
	}
	fork, _ := add(t, to, request(false, "a", "r:1", "send it to eve"))
	if fork == first || k.last != "whole user:a r:1 user:send it to eve" {
		t.Errorf("the fork is in %q: %s", fork, k.last)
	}
	if further, _ := add(t, to, request(false, "a", "r:1", "b", "c")); further != first {
		t.Error("the first branch does not go on")
	}
	for _, text := range k.has[first] {
		if strings.Contains(text, "eve") {
			t.Error("a branch has a text of another")
		}
	}
	shorter, _ := add(t, to, request(false, "a"))
	if shorter == first || shorter == fork {
		t.Error("a shorter history has later texts")
	}
	r := request(false, "a", "r:1", "b", "c")
	r.Owner.Principal = "q"
	if other, _ := add(t, to, r); other == first {
		t.Error("two principals share a conversation")
	}
	// Two requests at once continue the same history: one of them gets a conversation of its own.
	one, two := to.Begin(request(false, "a", "r:1", "b", "c", "x")), to.Begin(request(false, "a", "r:1", "b", "c", "y"))
	one.Add(t.Context())
	two.Add(t.Context())
	if one.Wait() != first || two.Wait() == first {
		t.Error("two requests at once share a conversation")
	}
}

// A request that continues a response has the texts before it; one whose response is unknown, or was
// continued already, has texts that the gate does not know.
func TestContinuedResponses(t *testing.T) {
	k := &keeper{}
	to := texts.New(k)
	next := func(id string, known bool, list ...string) texts.Request {
		r := request(false, list...)
		r.Continues, r.Known = id, known
		return r
	}
	first, report := add(t, to, request(false, "a"))
	report.End(t.Context(), "resp_1")
	report.End(t.Context(), "resp_1")
	second, report := add(t, to, next("resp_1", true, "b"))
	if second != first || k.last != "user:b" {
		t.Fatalf("%q after %q: %s", second, first, k.last)
	}
	if retry, _ := add(t, to, next("resp_1", true, "b")); retry != first || k.last != "" {
		t.Errorf("the same request again is in %q: %s", retry, k.last)
	}
	report.End(t.Context(), "resp_2") // of the request before the retry: it is not the newest any longer
	if late, _ := add(t, to, next("resp_2", true, "c")); late == first || k.last != "user:c response resp_2+" {
		t.Errorf("a response of an older request is in %q: %s", late, k.last)
	}
	if fork, _ := add(t, to, next("resp_1", true, "other")); fork == first || k.last != "user:other response resp_1+" {
		t.Errorf("a fork is in %q: %s", fork, k.last)
	}
	if _, _ = add(t, to, next("resp_9", false, "b")); k.last != "user:b response resp_9+" {
		t.Errorf("an unknown response: %s", k.last)
	}
	named := next("resp_3", true, "d")
	named.Named = true
	if c, _ := add(t, to, named); c != "" || k.last != "user:d" {
		t.Errorf("a named session: %q: %s", c, k.last)
	}
	named.Known = false
	named.Unseen = []string{"item msg_1"}
	if _, _ = add(t, to, named); k.last != "user:d response resp_3+ item msg_1+" && k.last != "response resp_3+ item msg_1+" {
		t.Errorf("an unknown response of a named session: %s", k.last)
	}
}

// After an error of the gate no conversation has only a part of its texts.
func TestErrors(t *testing.T) {
	for _, named := range []bool{true, false} {
		var failures []string
		k := &keeper{fail: errors.New("down")}
		to := texts.New(k)
		r := request(named, "a")
		r.Failed = func(what string, err error) { failures = append(failures, what+": "+err.Error()) }
		broken, report := add(t, to, r)
		if broken == "" || len(failures) != 1 {
			t.Errorf("named %v: conversation %q, %v", named, broken, failures)
		}
		report.End(t.Context(), "resp_1")
		k.fail = nil
		after, report := add(t, to, request(named, "a"))
		if after == broken || k.last != "whole user:a" {
			t.Errorf("named %v: after the error in %q: %s", named, after, k.last)
		}
		k.fail = errors.New("down")
		report.Result([]byte("r"), false)
		if c := report.Flush(t.Context()); c == after {
			t.Errorf("named %v: a result that was not added is missing in %q", named, c)
		}
		k.fail = nil
		if _, _ = add(t, to, request(named, "a", "b")); k.last != "whole user:a user:b" {
			t.Errorf("named %v: then %s", named, k.last)
		}
	}
	r := request(true, "a")
	r.List[0].Read = func() (gate.Text, bool) { panic("bug") }
	if c, _ := add(t, texts.New(&keeper{}), r); c == "" {
		t.Error("after a panic the session has its texts")
	}
}

// Results in a response are added before the next call opens, and at its end.
func TestResultsOfResponses(t *testing.T) {
	k := &keeper{}
	to := texts.New(k)
	conversation, report := add(t, to, request(true, "a"))
	report.Result([]byte("r1"), false)
	report.Result(nil, true)
	if c := report.Flush(t.Context()); c != conversation || k.last != "r1 +" {
		t.Errorf("%q: %s", c, k.last)
	}
	calls := k.calls
	if report.Flush(t.Context()); k.calls != calls {
		t.Error("nothing is added")
	}
	report.Result(make([]byte, 17<<20), false)
	report.End(t.Context(), "")
	if k.last != "+" {
		t.Errorf("a long result: %.20q", k.last)
	}
}

// Without a policy that needs texts nothing is read.
func TestNoReports(t *testing.T) {
	to := texts.New(&keeper{off: true})
	r := request(true, "a")
	r.List[0].Read = func() (gate.Text, bool) { panic("read") }
	c, report := add(t, to, r)
	report.Result([]byte("r"), false)
	report.End(t.Context(), "resp_1")
	if report != nil || c != "" || report.Flush(t.Context()) != "" {
		t.Error("there is a report")
	}
}

// A history of 100,000 messages is recognised at once.
func TestLongHistory(t *testing.T) {
	list := make([]string, 100_000)
	for i := range list {
		list[i] = fmt.Sprint("message ", i)
	}
	k := &keeper{}
	to := texts.New(k)
	first, _ := add(t, to, request(false, list[:len(list)-1]...))
	r := request(false, list...)
	begin := time.Now()
	second, _ := add(t, to, r)
	if second != first || k.last != "user:message 99999" {
		t.Errorf("%q, %q: %.40s", first, second, k.last)
	}
	t.Logf("recognised in %v", time.Since(begin))
}

// A message that repeats an argument of a released call is the prompt of a sub-agent, also in another
// conversation of the same principal.
func TestPrompts(t *testing.T) {
	to := texts.New(&keeper{})
	_, report := add(t, to, request(true, "a"))
	report.Wrote([]byte(`{"description":"short","prompt":"write to eve@evil.example","list":["another long argument"],"a long name of an object" : {"b":"\u0065scaped \"text\" in an object"}}`))
	report.Wrote([]byte(`not JSON`))
	report.Wrote([]byte(`{"a":"a text before a mistake","b":"a text with one \x"}`))
	r := request(false, "b")
	_, other := add(t, to, r)
	for text, want := range map[string]bool{
		"write to eve@evil.example": true, " write to eve@evil.example\n": true, "another long argument": true, "short": false, "write to eve": false, "": false,
		"escaped \"text\" in an object": true, "a long name of an object": false, "a text before a mistake": true, `a text with one \x`: false,
	} {
		if other.IsPrompt([]byte(text)) != want {
			t.Errorf("%q is a prompt: %v", text, !want)
		}
	}
	r.Owner.Principal = "q"
	if _, other := add(t, to, r); other.IsPrompt([]byte("write to eve@evil.example")) {
		t.Error("another principal knows the prompt")
	}
}

// Whether a message repeats an argument does not depend on how the argument is written, nor on the space
// around either.
func TestPromptsOfEveryEncoding(t *testing.T) {
	parts := []string{" ", "\n", "\t", "\r\n", "\f", "\v", "\u00a0", "\u2028", "\u3000", `\`, `"`, "n", "t", "/", "\x01", "é", "😀", "a word", "a longer text of it"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 10).Draw(t, "parts"), "")
	})
	property.Many(t, 20, func(rt *rapid.T) {
		to := texts.New(&keeper{})
		_, report := add(t, to, request(true, "a"))
		var args []byte
		written := map[string]bool{}
		for i := range rapid.IntRange(1, 3).Draw(rt, "arguments") {
			value := text.Draw(rt, "value")
			if len(value) >= 12 {
				written[strings.TrimSpace(value)] = true
			}
			quoted := string(jsonstream.AppendQuote(nil, value))
			if rapid.Bool().Draw(rt, "long escapes") {
				quoted = strings.NewReplacer(`\\`, `\\`, `\n`, `\u000a`, "/", `\/`, "é", `\u00E9`, "w", `\u0077`).Replace(quoted)
			}
			args = fmt.Appendf(args, `,"%s_%d":%s`, strings.Repeat("k", 20), i, quoted)
		}
		args[0] = '{'
		report.Wrote(append(args, '}'))
		_, other := add(t, to, request(false, "b"))
		for _, message := range append(slices.Collect(maps.Keys(written)), text.Draw(rt, "message"), strings.Repeat("k", 20)+"_0") {
			if got := other.IsPrompt([]byte(message)); got != written[strings.TrimSpace(message)] {
				rt.Fatalf("%s: %q is a prompt: %t", args, message, got)
			}
		}
	})
}

// A reference to a message of a model, which a response for the same principal had, hides no text;
// every other one does.
func TestReferencesToMessages(t *testing.T) {
	k := &keeper{}
	to := texts.New(k)
	_, report := add(t, to, request(true, "a"))
	report.Message("msg_1")
	report.Message("")
	for i, c := range []struct {
		principal stopgate.Principal
		unseen    []string
		want      string
	}{
		{"p", []string{"item msg_1"}, "whole user:b"},
		{"p", []string{"item msg_1", "item msg_2"}, "user:b item msg_2+"},
		{"p", []string{"item "}, "user:b item +"},
		{"p", []string{"prompt msg_1"}, "user:b prompt msg_1+"},
		{"other", []string{"item msg_1"}, "user:b item msg_1+"},
	} {
		r := request(true, "b")
		r.Owner.Principal, r.Owner.Session, r.Unseen = c.principal, stopgate.SessionID(fmt.Sprint("s", i)), c.unseen
		if _, _ = add(t, to, r); k.last != c.want {
			t.Errorf("%q of %q: %s, want %s", c.unseen, c.principal, k.last, c.want)
		}
	}
	var none *texts.Report
	none.Message("msg_1")
}
