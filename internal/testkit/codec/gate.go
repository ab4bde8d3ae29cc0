// Package codec tests codecs of provider dialects: a scripted gate that checks what
// a codec tells it, and a driver that plays streams as the gateway does.
//
// Play sends every stream through three times, without the short ways for events
// that repeat the one before them and with them, and wants the same bytes and calls.
package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// Gate is a scripted stand-in for the gate: it refuses what the codec refuses,
// what the arguments themselves refuse, and the tools that it was told to deny.
// It writes down what it saw.
type Gate struct {
	DenyAll   bool
	DenyCalls map[int]bool    // by number
	Calls     []*Judged       // in the order of their start
	Log       strings.Builder // a line for each start and end
	t         testing.TB
	deny      map[string]bool
	ended     map[int]stopgate.End // by choice
	twice     bool                 // a choice ended twice
}

// Judged is one call as the gate saw it.
type Judged struct {
	Choice int
	ID     stopgate.CallID
	Tool   stopgate.ToolName
	Args   jsonstream.Aggregator
	Raw    []byte        // the argument text as it came
	Code   stopgate.Code // why it may not run, "" if nothing speaks against it
	Over   bool          // its end was told
	End    stopgate.End
	parser *jsonstream.Parser
	gone   bool // its outcome was used
}

// Allowed reports whether the call may run.
func (j *Judged) Allowed() bool { return j.Code == "" && j.End == stopgate.Ended }

// NewGate returns a gate that denies some tools.
func NewGate(t testing.TB, deny ...string) *Gate {
	g := &Gate{t: t, deny: map[string]bool{}, ended: map[int]stopgate.End{}}
	for _, tool := range deny {
		g.deny[tool] = true
	}
	return g
}

// Event implements provider.Sink and checks the order that provider.Sink promises.
func (g *Gate) Event(e *stopgate.Event) {
	if e.Kind == stopgate.TurnEnded {
		_, twice := g.ended[e.Choice]
		g.twice = g.twice || twice
		g.ended[e.Choice] = e.End
		fmt.Fprintf(&g.Log, "turn %d %s\n", e.Choice, e.End)
		return
	}
	if e.Kind == stopgate.CallStarted {
		if e.Call != len(g.Calls) {
			g.t.Errorf("call %d started as number %d", len(g.Calls), e.Call)
		}
		j := &Judged{Choice: e.Choice, ID: e.ID, Tool: e.Tool}
		j.parser = jsonstream.NewParser(&j.Args, jsonstream.Options{ObjectRoot: true})
		if g.DenyAll || g.DenyCalls[e.Call] || g.deny[string(e.Tool)] {
			j.Code = stopgate.CodeRuleMatched
		}
		g.Calls = append(g.Calls, j)
		fmt.Fprintf(&g.Log, "%d.%d start %q %q\n", e.Choice, e.Call, e.ID, e.Tool)
		return
	}
	if e.Call >= len(g.Calls) {
		g.t.Fatalf("call %d was never started", e.Call)
	}
	j := g.Calls[e.Call]
	if j.Over {
		g.t.Errorf("call %d: event %d behind its end", e.Call, e.Kind)
	}
	if e.Tool != j.Tool || e.Choice != j.Choice || j.ID != "" && e.ID != j.ID {
		g.t.Errorf("call %d changed: %+v", e.Call, e)
	}
	switch e.Kind {
	case stopgate.CallArguments:
		j.Raw = append(j.Raw, e.Args...)
		if err := j.parser.Feed(e.Args); err != nil && j.Code == "" {
			j.Code = err.(*jsonstream.Error).Code
		}
	case stopgate.CallRefused:
		j.Over = true
		if j.Code == "" {
			j.Code = e.Code
		}
		fmt.Fprintf(&g.Log, "%d.%d args %s\n%d.%d refused %s\n", e.Choice, e.Call, j.Raw, e.Choice, e.Call, e.Code)
	case stopgate.CallEnded:
		j.Over, j.End, j.ID = true, e.End, e.ID
		if e.End != stopgate.Ended {
			if j.Code == "" {
				j.Code = stopgate.CodeStreamTruncated
			}
		} else if len(strings.TrimSpace(string(j.Raw))) == 0 {
			j.Raw = []byte("{}")
			j.parser.Reset(&j.Args, jsonstream.Options{})
			_ = j.parser.Feed(j.Raw)
			_ = j.parser.Close()
		} else if err := j.parser.Close(); err != nil && j.Code == "" {
			j.Code = err.(*jsonstream.Error).Code
		}
		fmt.Fprintf(&g.Log, "%d.%d args %s\n%d.%d ended %s %q\n", e.Choice, e.Call, j.Raw, e.Choice, e.Call, e.End, e.ID)
	}
}

// Outcomes resolves the calls of every choice that has ended, or of all, if they
// were not resolved before.
func (g *Gate) Outcomes(all bool) []provider.CallOutcome {
	var out []provider.CallOutcome
	for i, j := range g.Calls {
		if _, ok := g.ended[j.Choice]; j.gone || !ok && !all {
			continue
		}
		j.gone = true
		r := provider.CallOutcome{Call: i, Allowed: j.Allowed()}
		if r.Allowed {
			r.Args = j.Args.Bytes()
		} else {
			r.Text = provider.DenialText(j.Tool, true, "", j.Code)
		}
		out = append(out, r)
	}
	return out
}
