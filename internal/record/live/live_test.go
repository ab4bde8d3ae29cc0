package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/live"
)

func said(text string) live.Event {
	return live.Event{Type: live.Policy, Policy: &live.PolicyEvent{Summary: text}}
}

// soon returns a context with a deadline for the test.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// A reader gets the events from its position on, and the number of dropped ones.
func TestReading(t *testing.T) {
	s := live.New(4)
	for _, text := range []string{"1", "2", "3", "4", "5", "6"} {
		s.Write(said(text))
	}
	for _, test := range []struct {
		name         string
		after        uint64
		first        uint64
		missed, more uint64
	}{
		{"everything that is kept", 0, 3, 0, 3},
		{"behind one that is gone", 1, 3, 0, 3},
		{"behind one that is kept", 4, 5, 0, 1},
		{"behind the last", 6, 7, 0, 0},
		{"from now on", live.Now, 7, 0, 0},
		{"behind one that is not there yet", 100, 7, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := s
			r := s.Read(test.after)
			if test.first == 7 {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("there is one already: %v", err)
				}
				return
			}
			e, missed, err := r.Next(soon(t))
			if err != nil || e.Seq != test.first || missed != test.missed || e.Time.IsZero() {
				t.Errorf("event %d, missed %d, %v", e.Seq, missed, err)
			}
			list, _, err := r.Batch(soon(t), make([]live.Event, 0, 9))
			if err != nil || uint64(len(list)) != test.more {
				t.Errorf("%d more, %v", len(list), err)
			}
		})
	}
}

// Proves FM3: a reader that does not read blocks no writer; it misses the oldest events, learns how
// many, and the stream counts them.
func TestSlowReader(t *testing.T) {
	s := live.New(8)
	r := s.Read(live.Now)
	for range 100 {
		s.Write(said("x"))
	}
	e, missed, err := r.Next(soon(t))
	if err != nil || missed != 92 || e.Seq != 93 || s.Lost() != 92 {
		t.Errorf("event %d, missed %d, lost %d, %v", e.Seq, missed, s.Lost(), err)
	}
	list, missed, err := r.Batch(soon(t), make([]live.Event, 0, 3))
	if err != nil || len(list) != 3 || missed != 0 || list[0].Seq != 94 {
		t.Errorf("batch %v, missed %d, %v", list, missed, err)
	}
}

// Concurrent writers and readers: a reader's events are in order and, with the number of missed
// ones, without gaps.
func TestManyReaders(t *testing.T) {
	const writers, each = 4, 2000
	s := live.New(64)
	ctx := soon(t)
	var readers, writing sync.WaitGroup
	for range 8 {
		r := s.Read(0)
		readers.Go(func() {
			at := uint64(0)
			for at < writers*each {
				e, missed, err := r.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				if at += missed + 1; e.Seq != at {
					t.Errorf("event %d, want %d", e.Seq, at)
					return
				}
			}
		})
	}
	for range writers {
		writing.Go(func() {
			for range each {
				s.Write(said("x"))
			}
		})
	}
	writing.Wait()
	readers.Wait()
}

// Decisions and event rows of a gate become events, without arguments (H17).
func TestGate(t *testing.T) {
	p, diags := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte("version = 1\n[tools.t.policy]\nrun = \"deny\"\n")}}, policy.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s := live.New(live.Length)
	g, err := gate.New(p, gate.WithTracer(gate.Tracers(s.Tracer())), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.Decide(t.Context(), stopgate.Call{Tool: "t", Session: "s", Args: []byte(`{"secret":"hunter2"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Note(t.Context(), stopgate.Record{Event: stopgate.AuditNotEvaluated, Cause: "x"}); err != nil {
		t.Fatal(err)
	}
	list, _, err := s.Read(0).Batch(soon(t), make([]live.Event, 0, 9))
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if e := list[0]; e.Type != live.Decision || e.Record.ID != out.Proposal || e.Record.Status != stopgate.StatusDenied || e.Took <= 0 {
		t.Errorf("decision: %+v", e)
	}
	if e := list[1]; e.Type != "not_evaluated" || e.Record.Cause != "x" || e.Record.Policy != p.Hash() {
		t.Errorf("event row: %+v", e)
	}
	text, err := json.Marshal(list)
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%v: %s", err, text)
	}
}

func BenchmarkWrite(b *testing.B) {
	s := live.New(live.Length)
	e := said("x")
	e.Time = time.Now()
	b.ReportAllocs()
	for b.Loop() {
		s.Write(e)
	}
}

// The cost of a tracer per decision: without one, and with the stream.
func BenchmarkDecide(b *testing.B) {
	p, diags := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte("version = 1\n[tools.t.policy]\nrun = \"unattended\"\n")}}, policy.Options{})
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	for name, options := range map[string][]gate.Option{"alone": nil, "watched": {gate.WithTracer(gate.Tracers(live.New(live.Length).Tracer()))}} {
		b.Run(name, func(b *testing.B) {
			g, err := gate.New(p, options...)
			if err != nil {
				b.Fatal(err)
			}
			call := stopgate.Call{Tool: "t", Session: "s", Args: []byte(`{"path":"src/a.go"}`)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Decide(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
