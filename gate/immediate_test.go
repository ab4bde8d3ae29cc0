package gate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

const immediateFile = `version = 1
[gate]
deny_mode = "tool_result"
[tools.asked.policy]
run = "ask"
[tools.rare.policy]
run = "ask"
[[session]]
type = "limit"
tools = ["rare"]
max_calls = 1
within = "1d"
`

// book is a journal that knows what it wrote in one step.
type book struct {
	ports.Store
	mu      sync.Mutex
	rows    []stopgate.Record
	commits []int // rows of each
}

func (b *book) Capabilities() gate.Capabilities {
	can := b.Store.Capabilities()
	can.Journal = func(r gate.Recorder) bool { return r == gate.Recorder(b) }
	return can
}

func (b *book) Record(ctx context.Context, r *stopgate.Record) error {
	if b.Fault != nil {
		if err := b.Fault(ctx, "record"); err != nil {
			return err
		}
	}
	b.add(r)
	return nil
}

func (b *book) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	var change gate.Change
	err := b.Store.Update(ctx, o, keys, func(s session.State) (c gate.Change, err error) {
		change, err = decide(s)
		return change, err
	})
	if err == nil {
		b.add(change.Rows...)
	}
	return err
}

func (b *book) add(rows ...*stopgate.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commits = append(b.commits, len(rows))
	for _, r := range rows {
		b.rows = append(b.rows, *r)
	}
}

// words are the rows in short.
func words(rows []stopgate.Record) string {
	var all []string
	for i := range rows {
		r := &rows[i]
		all = append(all, strings.TrimSpace(string(r.Event)+" "+string(r.Status)))
	}
	return strings.Join(all, ", ")
}

// entropy makes ids that differ, and are the same in each run.
func entropy() gate.Option {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "%010d", i)
	}
	return gate.WithEntropy(strings.NewReader(text.String()))
}

// immediately is an approver that asks nobody, or says nothing of it.
func immediately(is bool, answer ports.Approver) gate.Option {
	return gate.WithApprover(ports.Able{Can: gate.Abilities{Reachable: true, CanEdit: true, Immediate: is}, Answer: answer})
}

func shown(f func(gate.View) gate.Answer) ports.Approver {
	return func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		v, err := q.Complete(ctx)
		return f(v), err
	}
}

// Proves S25, I22, I23: what is on record of a question that nobody sees is what would be
// of any other, byte for byte; where the store has the rows, it is one step with the end of
// the call. A question that somebody sees is on record before.
func TestImmediateAnswersAreOneStep(t *testing.T) {
	fixed := gate.WithClock(func() time.Time { return time.UnixMilli(1469918176385) })
	for _, c := range []struct {
		name    string
		tool    stopgate.ToolName
		answer  ports.Approver
		rows    string
		commits string // of an immediate answer
	}{
		{"referred", "asked", shown(func(v gate.View) gate.Answer { return v.Refer("host") }), "asked, allowed", "[2]"},
		{"approved", "asked", shown(func(v gate.View) gate.Answer { return v.Approve("rule") }), "asked, answered, allowed", "[3]"},
		{"declined", "asked", shown(func(v gate.View) gate.Answer { return v.Decline("rule") }), "asked, answered, denied", "[3]"},
		{"put off", "asked", shown(func(v gate.View) gate.Answer { return v.Defer("q7") }), "asked, answered, denied", "[1 1 1]"},
		{"no answer", "asked", shown(func(v gate.View) gate.Answer { return gate.Answer{} }), "asked, answered, denied", "[1 1 1]"},
		{"an error", "asked", func(context.Context, *gate.Question) (gate.Answer, error) { return gate.Answer{}, errDisk }, "asked, answered, denied", "[1 1 1]"},
		{"a panic", "asked", func(context.Context, *gate.Question) (gate.Answer, error) { panic("no") }, "asked, answered, denied", "[1 1 1]"},
		{"an edit", "asked", shown(func(v gate.View) gate.Answer { return v.Edit("rule", []byte(`{"b":2}`)) }), "asked, answered, edited, allowed", "[1 1 1 1]"},
		{"a session that objects", "rare", nil, "asked, asked, allowed, denied", "[2 2]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var texts [2]string
			var told [2]noteTracer
			for i, immediate := range []bool{false, true} {
				b := new(book)
				var g *gate.Gate
				inner := false
				answer := c.answer
				if answer == nil { // the same call is released while this one is asked about
					answer = shown(func(v gate.View) gate.Answer {
						if !inner {
							inner = true
							decide(t, g, c.tool, `{"a":1}`)
						}
						return v.Refer("host")
					})
				}
				g = fileGate(t, immediateFile, gate.WithStore(b), gate.WithRecorder(b), fixed, entropy(), gate.WithTracer(&told[i]),
					immediately(immediate, func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
						if onRecord := len(b.rows) > 0; onRecord == immediate && !inner {
							t.Errorf("immediate %t: the question is on record: %t", immediate, onRecord)
						}
						return answer(ctx, q)
					}))
				decide(t, g, c.tool, `{"a":1}`)
				if inner { // two calls: each by itself
					slices.SortStableFunc(b.rows, func(x, y stopgate.Record) int { return cmp.Compare(x.ID, y.ID) })
				} else if got := words(b.rows); got != c.rows {
					t.Errorf("immediate %t: rows %s", immediate, got)
				}
				if got := fmt.Sprint(b.commits); immediate && got != c.commits {
					t.Errorf("rows in each step: %s, want %s", got, c.commits)
				}
				text, err := json.Marshal(b.rows)
				if err != nil {
					t.Fatal(err)
				}
				texts[i] = string(text)
			}
			if texts[0] != texts[1] {
				t.Errorf("rows differ:\n%s\n%s", texts[0], texts[1])
			}
			slices.Sort(told[0].heard)
			slices.Sort(told[1].heard)
			if c.answer != nil && !slices.Equal(told[0].heard, told[1].heard) || len(told[1].heard) == 0 {
				t.Errorf("telemetry: %q, %q", told[0].heard, told[1].heard)
			}
		})
	}
}

// noteTracer keeps what it hears in short.
type noteTracer struct {
	tracer
	heard []string
}

func (n *noteTracer) Note(_ context.Context, r stopgate.Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.heard = append(n.heard, fmt.Sprint(r.ID, r.Event, r.Seq, r.Hash, r.Time.UnixNano()))
}

// Proves FM4, I22, S26: where the one step fails nothing runs, nothing is on record, and
// both rows are counted; a question has its end on record, or is not on it at all.
func TestImmediateAnswersWithoutALog(t *testing.T) {
	b := new(book)
	broken := ""
	b.Fault = func(_ context.Context, op string) error {
		if broken != "" && (op == broken || broken == "all") {
			return errDisk
		}
		return nil
	}
	g := fileGate(t, immediateFile, gate.WithStore(b), gate.WithRecorder(b), immediately(true, shown(func(v gate.View) gate.Answer { return v.Refer("host") })))
	broken = "all"
	for range 2 {
		want(t, decide(t, g, "asked", `{}`), stopgate.Denied, stopgate.CodeAuditUnavailable)
	}
	if len(b.rows) != 0 || g.Health().LostRows != 4 {
		t.Errorf("%s, %d rows lost", words(b.rows), g.Health().LostRows)
	}
	broken = ""
	want(t, decide(t, g, "asked", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
	if got := words(b.rows); got != "gap, release_failed, release_failed, asked, allowed" || b.rows[0].Count != 4 {
		t.Errorf("%s: %+v", got, b.rows)
	}
	b.rows = nil
	broken = "update" // and the denial can be written by itself
	want(t, decide(t, g, "asked", `{}`), stopgate.Denied, stopgate.CodeAuditUnavailable)
	if got := words(b.rows); got != "gap, release_failed, denied" || b.rows[0].Count != 2 {
		t.Errorf("%s: %+v", got, b.rows)
	}
}

// Proves I23, FM4: with a log beside the store, or none, the rows have the same order; one
// that takes several at once gets them at once.
func TestImmediateAnswersInALogOfItsOwn(t *testing.T) {
	refers := immediately(true, shown(func(v gate.View) gate.Answer { return v.Refer("host") }))
	for _, store := range []gate.Store{nil, new(ports.Store)} {
		var one ports.Recorder
		many := new(atOnce)
		for _, rec := range []gate.Recorder{&one, many} {
			opts := []gate.Option{gate.WithRecorder(rec), refers}
			if store != nil {
				opts = append(opts, gate.WithStore(store))
			}
			want(t, decide(t, newGate(t, opts...), "asked", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
		}
		if words(one.Rows()) != "asked, allowed" || words(many.Rows()) != "asked, allowed" || many.times != 1 {
			t.Errorf("%s; %s, %d times", words(one.Rows()), words(many.Rows()), many.times)
		}
		var told noteTracer
		want(t, decide(t, newGate(t, refers, gate.WithTracer(&told)), "asked", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
		if len(told.heard) != 1 || len(told.events) != 1 {
			t.Errorf("told %q", told.heard)
		}
	}
	for lost := range 2 { // of the two rows
		rec := ports.Recorder{Fault: func(_ context.Context, n int, _ *stopgate.Record) error {
			if n == lost {
				return errDisk
			}
			return nil
		}}
		out := decide(t, newGate(t, gate.WithRecorder(&rec), refers), "asked", `{}`)
		switch rows := words(rec.Rows()); {
		case lost == 0 && (!out.Allowed() || rows != "gap, allowed"), lost == 1 && (out.Allowed() || rows != "asked"):
			t.Errorf("row %d is lost: %s, %s", lost, out.Verdict, rows)
		}
	}
}

// atOnce is a recorder of several rows at once.
type atOnce struct {
	ports.Recorder
	times int
}

func (a *atOnce) Capabilities() gate.Capabilities { return gate.Capabilities{RecordAll: a.RecordAll} }

func (a *atOnce) RecordAll(ctx context.Context, rows []*stopgate.Record) (err error) {
	a.times++
	for _, r := range rows {
		err = errors.Join(err, a.Record(ctx, r))
	}
	return err
}

// Proves S25, I19: calls of one turn that leave together take their questions along.
func TestImmediateAnswersOfATurn(t *testing.T) {
	b := new(book)
	g := fileGate(t, immediateFile, gate.WithStore(b), gate.WithRecorder(b), immediately(true, shown(func(v gate.View) gate.Answer { return v.Refer("host") })))
	var calls []*gate.Pending
	for i := range 3 {
		calls = append(calls, proposed(t, g, stopgate.Call{Tool: "asked", ID: stopgate.CallID(fmt.Sprint(i)), Session: "s", Turn: "t", Args: []byte(`{}`)}))
	}
	for _, out := range g.ResolveAll(ctx, calls) {
		want(t, out, stopgate.Allowed, stopgate.CodeRuleMatched)
	}
	if got := words(b.rows); got != "asked, allowed, asked, allowed, asked, allowed" || fmt.Sprint(b.commits) != "[6]" {
		t.Errorf("%s in %v", got, b.commits)
	}
	many := new(atOnce)
	g = newGate(t, gate.WithRecorder(many), immediately(true, shown(func(v gate.View) gate.Answer { return v.Refer("host") })))
	calls = calls[:0]
	for range 2 {
		calls = append(calls, proposed(t, g, stopgate.Call{Tool: "asked", Turn: "t", Args: []byte(`{}`)}))
	}
	g.ResolveAll(ctx, calls)
	if got := words(many.Rows()); got != "asked, allowed, asked, allowed" || many.times != 1 {
		t.Errorf("%s in %d", got, many.times)
	}
}

// turning is an approver whom somebody replaces: the second question is put to a person.
type turning struct{ asked *int }

func (a turning) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, Immediate: *a.asked == 0}
}

func (a turning) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	*a.asked++
	v, _ := q.View()
	return v.Approve("ann"), nil
}

// Proves I23, H2: rows that wait for the call's own do not wait while a person is asked.
func TestImmediateAnswerThatWasNotEnough(t *testing.T) {
	floored := decided(stopgate.Ask)
	floored.Floors = []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeProtectedTarget, Pointer: "/b", At: 9}}
	policy := tools()
	policy.Tools["floored-later"] = gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(stopgate.Ask)}, {At: 9, Verdict: floored}}}
	var rec ports.Recorder
	asked := 0
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec), gate.WithApprover(second{turning{&asked}, func() {
		if got := words(rec.Rows()); asked == 1 && got != "asked, answered, asked" {
			t.Errorf("while a person is asked: %s", got)
		}
	}}))
	if err != nil {
		t.Fatal(err)
	}
	p := openCall(t, g, "floored-later")
	p.Feed([]byte(`{"a":`))
	if err := p.Ask(ctx); err != nil {
		t.Fatal(err)
	}
	p.AwaitAnswer()
	p.Feed([]byte(`1,"b":2}`))
	p.Close(stopgate.Ended)
	if out, _ := p.Resolve(ctx); !out.Allowed() {
		t.Errorf("%+v", out.Verdict)
	}
	if got := words(rec.Rows()); got != "asked, answered, asked, answered, allowed" || asked != 2 {
		t.Errorf("asked %d times: %s", asked, got)
	}
}

// second looks at what is on record when it is asked.
type second struct {
	turning
	look func()
}

func (s second) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	s.look()
	return s.turning.Approve(ctx, q)
}
