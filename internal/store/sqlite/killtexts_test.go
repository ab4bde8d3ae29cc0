package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// textGate returns a gate whose policy reads texts.
func textGate(s *sqlite.Store, p *policy.Program) (*ports.Reading, *gate.Gate, error) {
	reading := &ports.Reading{Policy: p, Texts: &ports.Texts{Version: "1"}, Version: "h", Keep: true}
	g, err := gate.New(reading, gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult), gate.WithLimits(gate.Limits{Store: 20 * time.Second}))
	return reading, g, err
}

// addTexts adds messages and results of calls, and prints each after it was added.
func addTexts(s *sqlite.Store, p *policy.Program, name string) int {
	_, g, err := textGate(s, p)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	owner := session.Owner{Principal: "local", Session: "s"}
	for i := range 1 << 30 {
		text := fmt.Sprint(name, ".", i, ";")
		if i%2 == 0 {
			err = g.AddTexts(context.Background(), owner, "", gate.Texts{List: []gate.Text{{Message: &flow.Message{Source: flow.User, Text: []byte(text)}}}})
		} else {
			var out stopgate.Outcome
			if out, err = g.Decide(context.Background(), stopgate.Call{Tool: "t", Session: "s", Principal: "local", Args: []byte(`{"a":"yes"}`)}); err == nil {
				_, err = g.Observe(context.Background(), stopgate.Result{Proposal: out.Proposal, Tool: "t", Session: "s", Principal: "local", Data: []byte(text), Observed: true})
			}
		}
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
		fmt.Println(text)
	}
	return 0
}

// Processes that share a session and are killed at any moment lose no text that was added: what a
// person named stays named.
func TestKillKeepsTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	var mu sync.Mutex
	var added []string
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		var running sync.WaitGroup
		for n := range 2 {
			running.Go(func() {
				cmd, out := start(t, path, "texts", fmt.Sprint("p", round, "-", n))
				lines := bufio.NewScanner(out)
				for first := true; lines.Scan(); first = false {
					if first {
						time.AfterFunc(time.Duration(50+n*30)*time.Millisecond, func() { cmd.Process.Kill() })
					}
					if strings.HasPrefix(lines.Text(), "error") {
						t.Error(lines.Text())
						continue
					}
					mu.Lock()
					added = append(added, lines.Text())
					mu.Unlock()
				}
				cmd.Wait()
			})
		}
		running.Wait()
	}
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	reading, g, err := textGate(open(t, path), p)
	if err != nil {
		t.Fatal(err)
	}
	g.Decide(ctx, stopgate.Call{Tool: "t", Session: "s", Principal: "local", Args: []byte(`{"a":"no"}`)})
	texts := reading.Last()
	for _, text := range added {
		if !strings.Contains(texts, " "+text) {
			t.Errorf("%s is not among the texts", text)
		}
	}
	if len(added) < rounds*4 {
		t.Errorf("only %d texts were added", len(added))
	}
	t.Logf("%d texts", len(added))
}
