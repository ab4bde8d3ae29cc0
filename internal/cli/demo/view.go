package demo

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
)

// demoRecorder keeps decision rows in memory, in the order of their decision.
type demoRecorder struct {
	mu   sync.Mutex
	rows []stopgate.Record
}

// Record keeps a row.
func (*demoRecorder) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (r *demoRecorder) Record(_ context.Context, row *stopgate.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if row.Kind == stopgate.RecordDecision {
		r.rows = append(r.rows, *row)
	}
	return nil
}

func (r *demoRecorder) take() []stopgate.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := r.rows
	r.rows = nil
	return rows
}

// demoSum counts a whole session.
type demoSum struct {
	Calls     int   `json:"calls"`
	Allowed   int   `json:"allowed"`
	Refused   int   `json:"refused"`
	Generated int64 `json:"generated"`
	Saved     int64 `json:"not_generated"`
}

func (s *demoSum) add(t demoTurn) {
	for _, r := range t.rows {
		s.Calls++
		if r.Status == stopgate.RecordStatus("allowed") {
			s.Allowed++
		} else {
			s.Refused++
		}
	}
	s.Generated += t.report.Generated
	s.Saved += t.report.Total - t.report.Generated
}

// demoView shows a session while it runs. progress is called while a turn is being
// written, between listen and turn, and by another goroutine.
type demoView interface {
	begin(url string)
	listen(t demoTurn)
	progress(generated int64)
	turn(t demoTurn) error
	end(sum demoSum) error
}

// demoJSON is the form for programs: a line for each call and one for the end.
type demoJSON struct{ out io.Writer }

func (v *demoJSON) begin(string) {}

func (v *demoJSON) listen(demoTurn) {}

func (v *demoJSON) progress(int64) {}

func (v *demoJSON) turn(t demoTurn) error {
	for _, r := range t.rows {
		if err := cli.WriteJSON(v.out, r); err != nil {
			return err
		}
	}
	return nil
}

func (v *demoJSON) end(sum demoSum) error { return cli.WriteJSON(v.out, sum) }

// thousands writes a number with separators: 12,345.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
