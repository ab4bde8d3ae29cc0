package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// handle runs a call with a handler, in the session of the bench.
func (b *bench) handle(tool stopgate.ToolName, args string, handler gate.Handler) gate.Ran {
	b.t.Helper()
	turn := b.g.Turn(sessionS, "")
	ran, err := turn.Run(ctx, stopgate.Call{Tool: tool, ID: "call_0", Args: []byte(args)}, handler)
	if err != nil {
		b.t.Fatal(err)
	}
	return ran
}

func gives(data string, err error) gate.Handler {
	return func(context.Context, []byte) ([]byte, error) { return []byte(data), err }
}

// Proves TPS-03, TPS-08, TPS-32, TPS-33: check, execute, notify, outcome. A handler runs
// with what was released if it may, and how it ended is a fact.
func TestRun(t *testing.T) {
	b := newBench(t)
	never := func(context.Context, []byte) ([]byte, error) {
		t.Error("it ran")
		return nil, nil
	}
	ran := b.handle("deploy", `{}`, never)
	if ran.Outcome.Allowed() || ran.Failed != nil || string(ran.Data) != `{"status":"denied","code":"prerequisite_missing","publicReason":"Call test first; it must have succeeded.","data":null}` {
		t.Errorf("%+v %s", ran, ran.Data)
	}
	broken := errors.New("no compiler")
	ran = b.handle("test", `{ "a" : 1}`, func(_ context.Context, args []byte) ([]byte, error) {
		if string(args) != `{"a":1}` {
			t.Errorf("it runs with %s", args)
		}
		return nil, broken
	})
	if !ran.Outcome.Allowed() || !errors.Is(ran.Failed, broken) || string(ran.Data) != "no compiler" {
		t.Errorf("%+v %s", ran, ran.Data)
	}
	b.handle("deploy", `{}`, never)
	if ran = b.handle("test", `{}`, gives(`{"exit":0}`, nil)); string(ran.Data) != `{"exit":0}` {
		t.Errorf("%+v %s", ran, ran.Data)
	}
	if ran = b.handle("deploy", `{}`, gives("done", nil)); string(ran.Data) != "done" {
		t.Errorf("%+v %s", ran, ran.Data)
	}
}

// Proves G2-15, G2-21: row 10 of the matrix, an allowed call whose tool ran, and the results
// beside it.
func TestRunEnvelope(t *testing.T) {
	b := newBench(t)
	envelope := func(ran gate.Ran) string {
		text, err := json.Marshal(ran.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		name, data string
		err        error
		want       string
	}{
		{"JSON is itself", `{"exit":0}`, nil, `{"status":"ok","code":null,"publicReason":null,"data":{"exit":0}}`},
		{"a text is a string", "all green", nil, `{"status":"ok","code":null,"publicReason":null,"data":"all green"}`},
		{"a tool that failed was allowed", "", errors.New("no compiler"), `{"status":"ok","code":null,"publicReason":null,"data":""}`},
		{"text that is not UTF-8", "a\xff", nil, `{"status":"ok","code":null,"publicReason":null,"data":"a\ufffd"}`},
	} {
		if got := envelope(b.handle("test", `{}`, gives(c.data, c.err))); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	if got := envelope(b.handle("write", `{"path":"unread.go"}`, gives("written", nil))); !strings.HasPrefix(got, `{"status":"denied","code":"read_required",`) || !strings.HasSuffix(got, `,"data":null}`) {
		t.Errorf("a denial: %s", got)
	}
	w := fileGate(t, withheldFile)
	ran, err := w.Run(ctx, stopgate.Call{Tool: "read", Args: []byte(`{}`)}, gives("hunter2", nil))
	if got := envelope(ran); err != nil || !strings.HasPrefix(got, `{"status":"denied","code":"result_withheld",`) || strings.Contains(got, "hunter2") || got != string(ran.Data) {
		t.Errorf("a result that is withheld: %s, %v", got, err)
	}
}

const withheldFile = `version = 1
[tools.read.policy]
run = "unattended"
result = "ask"
`

// Proves Q15: a handler that has seen that nothing is there says so; another failure says
// nothing of the file.
func TestRunAbsent(t *testing.T) {
	b := newBench(t)
	b.handle("read", `{"path":"new.go"}`, gives("no such file", fmt.Errorf("reading: %w", gate.ErrAbsent)))
	b.handle("read", `{"path":"old.go"}`, gives("", errors.New("permission denied")))
	for path, may := range map[string]bool{"new.go": true, "old.go": false} {
		ran := b.handle("write", `{"path":"`+path+`"}`, gives("written", nil))
		if ran.Outcome.Allowed() != may {
			t.Errorf("%s: %v", path, ran.Outcome.Verdict)
		}
	}
}

// A handler that panics has failed, whoever catches the panic.
func TestRunPanics(t *testing.T) {
	b := newBench(t)
	caught := func() (what any) {
		defer func() { what = recover() }()
		b.handle("test", `{}`, func(context.Context, []byte) ([]byte, error) { panic("of the tool") })
		return nil
	}()
	if caught != "of the tool" {
		t.Errorf("%v", caught)
	}
	facts, err := b.store.Facts(ctx, sessionS, 0, 10)
	if err != nil || len(facts) != 2 || facts[1].Kind != session.Failed {
		t.Errorf("%v %v", facts, err)
	}
	b.expect("deploy", `{}`, stopgate.CodePrerequisiteMissing)
}

// Proves G2-14: in deny mode throw a refusal is an error, with its envelope beside it.
func TestRunThrows(t *testing.T) {
	g := fileGate(t, "version = 1\n[tools.a.policy]\nrun = \"deny\"\n")
	ran, err := g.Run(ctx, stopgate.Call{Tool: "a", Args: []byte(`{}`)}, gives("", nil))
	if !errors.Is(err, gate.ErrToolDenied) || !strings.Contains(string(ran.Data), `"code":"rule_matched"`) {
		t.Errorf("%v %s", err, ran.Data)
	}
}

// Proves TPS-31, S37: in the context of its call a handler finds the policies of files and
// programs, and can ask what they would say of another call in its session.
func TestHandlersFindThePolicies(t *testing.T) {
	b := newBench(t, gate.WithSessionPolicies(ports.Registry(policies.Require("other").After("read").Named("ours"))))
	args, err := jsonstream.Parse([]byte(`{}`), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(ctx context.Context, tool stopgate.ToolName) (allowed bool, policy string) {
		here := session.FromContext(ctx)
		d, _, err := here.Check(ctx, session.Call{Tool: tool, Args: args})
		if err != nil || here.Owner != sessionS {
			t.Errorf("%+v %v", here.Owner, err)
		}
		return d.Allowed, d.Policy
	}
	handler := func(ctx context.Context, _ []byte) ([]byte, error) {
		var names []string
		for _, p := range session.FromContext(ctx).Policies.All() {
			names = append(names, p.Name())
		}
		if got := strings.Join(names, " "); got != "ship read_before_write mail ours" {
			t.Errorf("policies %q", got)
		}
		if ok, policy := asks(ctx, "deploy"); ok || policy != "ship" {
			t.Errorf("deploy: %v %s", ok, policy)
		}
		if ok, policy := asks(ctx, "other"); ok || policy != "ours" {
			t.Errorf("other: %v %s", ok, policy)
		}
		return []byte(`{"exit":0}`), nil
	}
	b.handle("test", `{}`, handler)
	b.handle("read", `{"path":"a"}`, func(ctx context.Context, _ []byte) ([]byte, error) {
		if ok, policy := asks(ctx, "deploy"); !ok {
			t.Errorf("after the test: %s", policy)
		}
		return nil, nil
	})
	if facts, _ := b.store.Facts(ctx, sessionS, 0, 10); len(facts) != 4 {
		t.Errorf("asking leaves facts: %v", facts)
	}
}

// What a handler asks is answered with an error where the store is gone, and without one.
func TestHandlersWithoutState(t *testing.T) {
	b := newBench(t)
	here := b.g.Context(ctx, sessionS)
	b.store.Fault = func(context.Context, string) error { return errors.New("gone") }
	without := fileGate(t, sessionFile[:strings.Index(sessionFile, "[[session]]")]).Context(ctx, sessionS)
	for _, c := range []context.Context{here, without} {
		if d, _, err := session.FromContext(c).Check(c, session.Call{Tool: "deploy"}); err == nil || d.Allowed {
			t.Errorf("%+v %v", d, err)
		}
	}
}
