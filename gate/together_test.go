package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// proposed opens and closes a call.
func proposed(t rapid.TB, g *gate.Gate, call stopgate.Call) *gate.Pending {
	args := call.Args
	call.Args = nil
	p, err := g.Open(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	p.Feed(args)
	p.Close(stopgate.Ended)
	return p
}

// Proves S8, I19: the calls of one turn have the outcomes, rows and facts that they
// would have one after the other, whatever session policies say about some of them.
func TestTogetherAsOneAfterTheOther(t *testing.T) {
	argsOf := rapid.SampledFrom([]string{
		`{"path":"src/a"}`, `{"path":"src/a"}`, `{"path":"src/b"}`, `{"path":"src/.env"}`, `{"content":"#!","path":"src/a"}`, `{"path":"other"}`, `{"to":"eve"}`, `{}`,
	})
	// Who is asked about a call does not see yet what its siblings reserve: nobody is.
	program := compile(t, strings.NewReplacer("[gate]", "[gate]\nunknown_params = \"allow\"", `{ mode = "ask" }`, `{ mode = "deny" }`).Replace(wholeFile))
	property.Check(t, func(t *rapid.T) {
		var gates [2]*gate.Gate
		var rows [2]*ports.Recorder
		var stores [2]*ports.Store
		for i := range gates {
			rows[i], stores[i] = new(ports.Recorder), &ports.Store{Memory: rapid.Bool().Draw(t, "memory")}
			g, err := gate.New(program, gate.WithRecorder(rows[i]), gate.WithStore(stores[i]), patient)
			if err != nil {
				t.Fatal(err)
			}
			gates[i] = g
		}
		for turn := range rapid.IntRange(1, 5).Draw(t, "turns") {
			var calls [2][]*gate.Pending
			var tools []stopgate.ToolName
			for n := range rapid.IntRange(1, 5).Draw(t, "calls") {
				call := stopgate.Call{
					Tool: rapid.SampledFrom([]stopgate.ToolName{"write", "read", "read", "deploy", "mail"}).Draw(t, "tool"),
					ID:   stopgate.CallID(fmt.Sprint(turn, "-", n)), Session: "s", Turn: stopgate.TurnID(fmt.Sprint(turn)), Args: []byte(argsOf.Draw(t, "args")),
				}
				tools = append(tools, call.Tool)
				for i, g := range gates {
					calls[i] = append(calls[i], proposed(t, g, call))
				}
			}
			together := gates[0].ResolveAll(ctx, calls[0])
			var ended [2][]stopgate.Result
			for n, p := range calls[1] {
				out, err := p.Resolve(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := summary(together[n]), summary(out); a != b {
					t.Fatalf("call %d: together %s, one after the other %s", n, a, b)
				}
				if out.Allowed() && rapid.Bool().Draw(t, "ends") {
					for i, id := range []stopgate.ProposalID{together[n].Proposal, out.Proposal} {
						ended[i] = append(ended[i], stopgate.Result{Proposal: id, Session: "s", Tool: tools[n], Observed: true})
					}
				}
			}
			for i, g := range gates { // results come when all calls of the turn have left
				for _, r := range ended[i] {
					if _, err := g.Observe(ctx, r); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		a, b := rows[0].Decisions(), rows[1].Decisions()
		for i := range a {
			if x, y := fmt.Sprint(a[i].CallID, a[i].Status, a[i].Code, a[i].Objections), fmt.Sprint(b[i].CallID, b[i].Status, b[i].Code, b[i].Objections); x != y {
				t.Fatalf("row %d: %s and %s", i, x, y)
			}
		}
	})
}

// Proves S25, I22: neighbours that may leave are one change of a store that keeps the
// rows, in the order of the calls; a denied one stands in its place.
func TestTogetherInOneTransaction(t *testing.T) {
	j := new(journal)
	g := fileGate(t, wholeFile, gate.WithStore(j), gate.WithRecorder(j))
	var calls []*gate.Pending
	for i, args := range []string{`{"n":1}`, `{"n":2}`, `{"to":"eve"}`, `{"n":3}`, `{"n":4}`} {
		call := stopgate.Call{Tool: "read", ID: stopgate.CallID(fmt.Sprint("c", i)), Session: "s", Turn: "t", Args: []byte(args)}
		if strings.Contains(args, "eve") {
			call.Tool = "mail"
		}
		calls = append(calls, proposed(t, g, call))
	}
	before := j.updates
	outs := g.ResolveAll(ctx, calls)
	var got []string
	for i, row := range j.rows {
		got = append(got, fmt.Sprint(row.CallID, " ", row.Status, " ", row.FactsAt))
		if outs[i].Proposal != row.ID {
			t.Errorf("outcome %d is of another call", i)
		}
	}
	if want := "c0 allowed 0, c1 allowed 1, c2 denied 2, c3 allowed 3, c4 allowed 4"; strings.Join(got, ", ") != want {
		t.Errorf("rows %s, want %s", strings.Join(got, ", "), want)
	}
	if n := j.updates - before; n != 3 {
		t.Errorf("%d changes of the store, want 3", n)
	}
}

// Proves S29, I14: people are asked about all calls of a turn at once, and a call that
// is declined, or about which asking fails, takes nothing from its siblings.
func TestTogetherAskedAtOnce(t *testing.T) {
	const file = "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.\"t*\".policy]\nrun = \"ask\"\n"
	var mu sync.Mutex
	asked, all := 0, make(chan struct{})
	approver := ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		mu.Lock()
		if asked++; asked == 4 {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-ctx.Done():
			return gate.Answer{}, ctx.Err()
		}
		v, _ := q.View()
		switch v.Call.Tool {
		case "t1":
			return v.Decline("ann"), nil
		case "t2":
			return gate.Answer{}, errors.New("no")
		case "t3":
			panic("no")
		default:
			return v.Approve("ann"), nil
		}
	})
	rec := new(ports.Recorder)
	g := fileGate(t, file, gate.WithApprover(approver), gate.WithRecorder(rec), gate.WithStore(&ports.Store{}), gate.WithLimits(gate.Limits{Hold: time.Minute}))
	var calls []*gate.Pending
	for i := range 4 {
		calls = append(calls, proposed(t, g, stopgate.Call{Tool: stopgate.ToolName(fmt.Sprint("t", (i+1)%4)), Session: "s", Turn: "t", Args: []byte(`{}`)}))
	}
	outs := g.ResolveAll(ctx, calls)
	for i, row := range rec.Decisions() {
		tool := stopgate.ToolName(fmt.Sprint("t", (i+1)%4))
		if row.Tool != tool || row.ID != outs[i].Proposal || outs[i].Allowed() != (tool == "t0") || (row.Status == stopgate.StatusAllowed) != (tool == "t0") {
			t.Errorf("row %d is of %s, %s: %v", i, row.Tool, row.Status, outs[i].Verdict)
		}
	}
}

// Proves I22, FM4: a row that cannot be written denies its own call alone.
func TestTogetherWithoutARow(t *testing.T) {
	rec := &ports.Recorder{Fault: func(_ context.Context, _ int, r *stopgate.Record) error {
		if r.CallID == "c1" {
			return errors.New("disk full")
		}
		return nil
	}}
	g := fileGate(t, wholeFile, gate.WithStore(&ports.Store{}), gate.WithRecorder(rec))
	var calls []*gate.Pending
	for i := range 3 {
		calls = append(calls, proposed(t, g, stopgate.Call{Tool: "read", ID: stopgate.CallID(fmt.Sprint("c", i)), Session: "s", Turn: "t", Args: []byte(`{}`)}))
	}
	for i, out := range g.ResolveAll(ctx, calls) {
		if out.Allowed() != (i != 1) || i == 1 && out.Verdict.Code != stopgate.CodeAuditUnavailable {
			t.Errorf("call %d: %v %v", i, out.Status, out.Verdict)
		}
	}
	if outs := g.ResolveAll(ctx, calls[:1]); outs[0].Allowed() || outs[0].Verdict.Decided || outs[0].Proposal != calls[0].ID() {
		t.Errorf("a call that is resolved: %+v", outs[0])
	}
	if n := g.Health().LostRows; n != 0 {
		t.Errorf("%d rows are missing, and nothing says so", n)
	}
}

// batch is a recorder that takes several rows at once.
type batch struct {
	ports.Recorder
	batches []int
	fault   func(rows int) error
}

func (b *batch) Capabilities() gate.Capabilities { return gate.Capabilities{RecordAll: b.RecordAll} }

func (b *batch) RecordAll(ctx context.Context, rows []*stopgate.Record) error {
	b.batches = append(b.batches, len(rows))
	if b.fault != nil {
		if err := b.fault(len(rows)); err != nil {
			return err
		}
	}
	for _, r := range rows {
		if err := b.Record(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Proves S26, I22, I23, H19: a recorder that takes rows together gets those of a turn
// at once, in the order of the calls; if that fails none of the calls leaves, in
// whatever way it fails, and every proposal counts as one lost row.
func TestTogetherInOneWrite(t *testing.T) {
	over := make(chan struct{}) // ends the writes that hang
	defer close(over)
	for _, stored := range []bool{false, true} {
		for name, fault := range map[string]func(int) error{
			"well": nil, "error": func(int) error { return errDisk }, "panic": func(int) error { panic("no") },
			"hang": func(int) error { <-over; return errDisk },
		} {
			rec := &batch{fault: fault}
			if fault != nil {
				rec.Fault = func(context.Context, int, *stopgate.Record) error { return errDisk }
			}
			opts := []gate.Option{gate.WithRecorder(rec), gate.WithDenyMode(gate.DenyToolResult)}
			if name == "hang" {
				opts = append(opts, gate.WithLimits(gate.Limits{Record: 50 * time.Millisecond}))
			}
			if stored {
				opts = append(opts, gate.WithStore(&ports.Store{Memory: true}))
			}
			g := newGate(t, opts...)
			var calls []*gate.Pending
			for i, tool := range []stopgate.ToolName{"free", "free", "denied", "free", "free"} {
				calls = append(calls, proposed(t, g, stopgate.Call{Tool: tool, ID: stopgate.CallID(fmt.Sprint("c", i)), Session: "s", Turn: "t", Args: []byte(`{}`)}))
			}
			outs := g.ResolveAll(ctx, calls)
			for i, out := range outs {
				if allowed := fault == nil && i != 2; out.Allowed() != allowed || allowed != (out.Args != nil) {
					t.Errorf("%s, stored %v, call %d: %v %s", name, stored, i, out.Status, out.Verdict.Code)
				}
				if fault != nil && i != 2 && out.Verdict.Code != stopgate.CodeAuditUnavailable {
					t.Errorf("%s, stored %v, call %d: %s", name, stored, i, out.Verdict.Code)
				}
			}
			if fault != nil {
				if h := g.Health(); h.LostRows != int64(len(calls)-len(rec.Decisions())) {
					t.Errorf("%s, stored %v: %d lost rows, %d written", name, stored, h.LostRows, len(rec.Decisions()))
				}
				continue
			}
			for i, row := range rec.Decisions() {
				if row.ID != outs[i].Proposal {
					t.Errorf("stored %v: row %d is of another call", stored, i)
				}
			}
			want := "[5]"
			if stored { // a denial counts in the store between them
				want = "[2 2]"
			}
			if got := fmt.Sprint(rec.batches); got != want || len(rec.Decisions()) != 5 {
				t.Errorf("stored %v: written %s at once, want %s: %d rows", stored, got, want, len(rec.Decisions()))
			}
		}
	}
}
