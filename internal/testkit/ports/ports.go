// Package ports holds doubles of the gate's ports for tests: a recorder in memory
// and ports that are one function.
package ports

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Recorder keeps rows in memory. The zero Recorder works.
type Recorder struct {
	// Fault is asked before the n-th row, from 0; an error refuses it. It may panic
	// or block.
	Fault func(ctx context.Context, n int, r *stopgate.Record) error

	mu    sync.Mutex
	calls int
	rows  []stopgate.Record
}

var _ gate.Recorder = (*Recorder)(nil)

// Capabilities are none.
func (*Recorder) Capabilities() gate.Capabilities { return gate.Capabilities{} }

// Record keeps a copy of the row.
func (m *Recorder) Record(ctx context.Context, r *stopgate.Record) error {
	m.mu.Lock()
	n := m.calls
	m.calls++
	m.mu.Unlock()
	if m.Fault != nil {
		if err := m.Fault(ctx, n, r); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	row := *r
	row.Seq = int64(len(m.rows) + 1)
	m.rows = append(m.rows, row)
	return nil
}

// Rows returns all rows.
func (m *Recorder) Rows() []stopgate.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]stopgate.Record(nil), m.rows...)
}

// Decisions returns the decision rows.
func (m *Recorder) Decisions() []stopgate.Record {
	return m.Select(func(r stopgate.Record) bool { return r.Kind == stopgate.RecordDecision })
}

// Events returns the event rows of one name.
func (m *Recorder) Events(name stopgate.AuditEvent) []stopgate.Record {
	return m.Select(func(r stopgate.Record) bool { return r.Kind == stopgate.RecordEvent && r.Event == name })
}

// Select returns the rows that keep wants.
func (m *Recorder) Select(keep func(stopgate.Record) bool) []stopgate.Record {
	var some []stopgate.Record
	for _, r := range m.Rows() {
		if keep(r) {
			some = append(some, r)
		}
	}
	return some
}

// Text is all rows as JSON lines.
func (m *Recorder) Text() string {
	var text []byte
	for _, r := range m.Rows() {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		text = append(append(text, line...), '\n')
	}
	return string(text)
}

// Approver is an approver that is somebody with an editor, and answers with one
// function.
type Approver func(ctx context.Context, q *gate.Question) (gate.Answer, error)

var _ gate.Approver = Approver(nil)

// Abilities says that somebody is there who can edit.
func (Approver) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve calls the function.
func (a Approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	return a(ctx, q)
}

// Able is an approver that can do what Can says.
type Able struct {
	Can    gate.Abilities
	Answer Approver
}

// Abilities is Can.
func (a Able) Abilities(context.Context, *stopgate.Call) gate.Abilities { return a.Can }

// Approve calls Answer.
func (a Able) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	return a.Answer(ctx, q)
}

// Yes approves every complete call.
func Yes(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, err := q.Complete(ctx)
	return v.Approve("tester"), err
}

// No declines every call at once.
func No(_ context.Context, q *gate.Question) (gate.Answer, error) {
	v, _ := q.View()
	return v.Decline("tester"), nil
}

// Judge is a judge that is one function.
type Judge func(ctx context.Context, p gate.Proposal) (gate.Opinion, error)

// Judge calls the function.
func (j Judge) Judge(ctx context.Context, p gate.Proposal) (gate.Opinion, error) { return j(ctx, p) }

// ToolPolicy is a tool policy that is one function.
type ToolPolicy struct {
	As     string
	Answer func(ctx context.Context, p gate.Proposal) (gate.Decision, error)
}

// Name is As.
func (t ToolPolicy) Name() string { return t.As }

// Check calls Answer.
func (t ToolPolicy) Check(ctx context.Context, p gate.Proposal) (gate.Decision, error) {
	return t.Answer(ctx, p)
}
