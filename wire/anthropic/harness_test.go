package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/anthropic"
	"github.com/stopgate/stopgate/wire/sse"
)

// gate is a scripted stand-in for the gate: it refuses what the codec refuses,
// what the arguments themselves refuse, and the tools that it was told to deny.
// It writes down what it saw.
type gate struct {
	t       testing.TB
	deny    map[string]bool
	denyAll bool
	calls   []*judged
	log     strings.Builder
	turn    int // turns that have ended
}

type judged struct {
	id     stopgate.CallID
	tool   stopgate.ToolName
	args   jsonstream.Aggregator
	parser *jsonstream.Parser
	raw    []byte
	code   stopgate.Code
	over   bool
	end    stopgate.End
}

func newGate(t testing.TB, deny ...string) *gate {
	g := &gate{t: t, deny: map[string]bool{}}
	for _, tool := range deny {
		g.deny[tool] = true
	}
	return g
}

// Event implements wire.Sink and checks the order that wire.Sink promises.
func (g *gate) Event(e *stopgate.Event) {
	if e.Kind == stopgate.TurnEnded {
		g.turn++
		fmt.Fprintf(&g.log, "turn %s\n", e.End)
		return
	}
	if e.Kind == stopgate.CallStarted {
		if e.Call != len(g.calls) {
			g.t.Errorf("call %d started as number %d", len(g.calls), e.Call)
		}
		j := &judged{id: e.ID, tool: e.Tool}
		j.parser = jsonstream.NewParser(&j.args, jsonstream.Options{ObjectRoot: true})
		if g.denyAll || g.deny[string(e.Tool)] {
			j.code = stopgate.CodeRuleMatched
		}
		g.calls = append(g.calls, j)
		fmt.Fprintf(&g.log, "%d start %q %q\n", e.Call, e.ID, e.Tool)
		return
	}
	if e.Call >= len(g.calls) {
		g.t.Fatalf("call %d was never started", e.Call)
	}
	j := g.calls[e.Call]
	if j.over {
		g.t.Errorf("call %d: event %d behind its end", e.Call, e.Kind)
	}
	if e.Tool != j.tool || e.Choice != 0 || e.ID != j.id {
		g.t.Errorf("call %d changed: %+v", e.Call, e)
	}
	switch e.Kind {
	case stopgate.CallArguments:
		j.raw = append(j.raw, e.Args...)
		if err := j.parser.Feed(e.Args); err != nil && j.code == "" {
			j.code = err.(*jsonstream.Error).Code
		}
	case stopgate.CallRefused:
		j.over = true
		if j.code == "" {
			j.code = e.Code
		}
		fmt.Fprintf(&g.log, "%d args %s\n%d refused %s\n", e.Call, j.raw, e.Call, e.Code)
	case stopgate.CallEnded:
		j.over, j.end = true, e.End
		if e.End != stopgate.Ended {
			if j.code == "" {
				j.code = stopgate.CodeStreamTruncated
			}
		} else if len(strings.TrimSpace(string(j.raw))) == 0 {
			j.raw = []byte("{}")
			j.parser.Reset(&j.args, jsonstream.Options{})
			_ = j.parser.Feed(j.raw)
			_ = j.parser.Close()
		} else if err := j.parser.Close(); err != nil && j.code == "" {
			j.code = err.(*jsonstream.Error).Code
		}
		fmt.Fprintf(&g.log, "%d args %s\n%d ended %s\n", e.Call, j.raw, e.Call, e.End)
	}
}

// outcomes resolves every call.
func (g *gate) outcomes() []wire.Release {
	var out []wire.Release
	for i, j := range g.calls {
		r := wire.Release{Call: i, Allowed: j.code == "" && j.end == stopgate.Ended}
		if r.Allowed {
			r.Args = j.args.Bytes()
		} else {
			r.Text = wire.DenialText(j.tool, true, "", j.code)
		}
		out = append(out, r)
	}
	return out
}

// run is one pass of a stream through the codec.
type run struct {
	out   string
	gate  *gate
	err   error // the StreamError that ended it, if one did
	notes wire.Notes
	ended bool
}

// play sends the pieces through the codec as a gateway would, twice: once with
// and once without the short way for events that repeat the one before them.
func play(t testing.TB, g *gate, req *wire.Request, o wire.Options, pieces ...string) run {
	t.Helper()
	plain := &gate{t: t, deny: g.deny, denyAll: g.denyAll}
	want := playOnce(t, plain, req, o, true, pieces...)
	got := playOnce(t, g, req, o, false, pieces...)
	if got.out != want.out || g.log.String() != plain.log.String() || got.notes.Dropped != want.notes.Dropped {
		t.Fatalf("the short way gives\n%s\n%s\nin full it is\n%s\n%s", got.out, g.log.String(), want.out, plain.log.String())
	}
	return got
}

func playOnce(t testing.TB, g *gate, req *wire.Request, o wire.Options, inFull bool, pieces ...string) run {
	t.Helper()
	st := anthropic.Dialect{}.Stream(req, g, o)
	if inFull {
		anthropic.ReadInFull(st)
	}
	d := sse.NewDecoder(nil, sse.Limits{})
	var out []byte
	var ev sse.Event
	r := run{gate: g}
	finish := func() run {
		r.out, r.notes = string(out), st.Notes()
		if n := st.Pending(); n != 0 {
			t.Errorf("%d calls are still pending at the end", n)
		}
		for i, j := range g.calls {
			if !j.over {
				t.Errorf("call %d never ended", i)
			}
		}
		if g.turn > 1 {
			t.Errorf("%d turns ended", g.turn)
		}
		return r
	}
	abort := func(err error) run {
		e, ok := err.(*wire.StreamError)
		if !ok {
			t.Fatalf("error %v is no *wire.StreamError", err)
		}
		r.err = e
		out = st.Abort(out, e.Code, e.Message)
		return finish()
	}
	for _, p := range pieces {
		d.Feed([]byte(p))
		for {
			ok, err := d.Next(&ev)
			if err != nil {
				return abort(&wire.StreamError{Code: stopgate.CodeLimitExceeded, Message: "limit"})
			}
			if !ok {
				break
			}
			var need wire.Need
			out, need, err = st.Event(out, &ev)
			if err != nil {
				return abort(err)
			}
			if need == wire.Resolve {
				if out, err = st.Release(out, g.outcomes(), nil); err != nil {
					t.Fatal(err)
				}
			}
			r.ended = r.ended || need == wire.Finished
		}
	}
	var err error
	if out, err = st.EOF(out, d.Tail()); err != nil {
		return abort(err)
	}
	return finish()
}

// request declares the tools of the test cases.
func request(t testing.TB) *wire.Request {
	t.Helper()
	body := `{"model":"m","stream":true,"max_tokens":1024,"messages":[],"tools":[`
	for i, name := range []string{"a", "b", "c"} {
		if i > 0 {
			body += ","
		}
		body += `{"name":"` + name + `","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`
	}
	r, err := anthropic.Dialect{}.Request([]byte(body + `,{"type":"bash_29990101","name":"bash"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
