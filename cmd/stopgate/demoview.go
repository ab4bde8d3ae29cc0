package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/visible"
)

// demoRecorder keeps decision rows in memory, in the order of their decision.
type demoRecorder struct {
	mu   sync.Mutex
	rows []stopgate.Record
}

// Record keeps a row.
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

// demoView shows a session while it runs.
type demoView interface {
	begin(url string)
	turn(t demoTurn) error
	end(sum demoSum) error
}

// demoText is the form for people.
type demoText struct{ out io.Writer }

func (v *demoText) begin(url string) {
	fmt.Fprintf(v.out, "A coding session through the running gateway at %s.\nThe model is a replay; the policy is %s, printed by: stopgate demo --show-policy\n", url, demoFile)
}

func (v *demoText) turn(t demoTurn) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d  model: %s\n", t.number, visible.Elide(visible.Text(t.say), 72))
	for _, r := range t.rows {
		mark, verdict := "✓", "ran"
		if r.Status != stopgate.RecordStatus("allowed") {
			mark, verdict = "✗", "refused"
		}
		fmt.Fprintf(&b, "   %s %-15s %-8s %s\n", mark, visible.Text(string(r.Tool)), verdict, demoWhy(r.Record))
		if r.DecidedAt != nil && *r.DecidedAt < r.ArgsBytes && verdict == "refused" {
			fmt.Fprintf(&b, "     certain at byte %d of the arguments, with %d received\n", *r.DecidedAt, r.ArgsBytes)
		} else if r.DecidedAt != nil {
			fmt.Fprintf(&b, "     certain at byte %d of %d\n", *r.DecidedAt, r.ArgsBytes)
		}
	}
	if saved := t.report.Total - t.report.Generated; saved > 0 {
		fmt.Fprintf(&b, "     the model was stopped: %s of %s bytes were never written\n", thousands(saved), thousands(t.report.Total))
	}
	_, err := io.WriteString(v.out, b.String())
	return err
}

// demoWhy names the rule or the code that decided.
func demoWhy(r stopgate.Record) string {
	why := string(r.Code)
	if r.Rule != nil {
		why = fmt.Sprintf("%s:%d", r.Rule.File, r.Rule.Line)
	}
	if r.Pointer != "" {
		why += " on " + visible.Text(r.Pointer)
	}
	if r.Rule != nil && r.Code != stopgate.CodeRuleMatched {
		why += " (" + string(r.Code) + ")"
	}
	return why
}

func (v *demoText) end(sum demoSum) error {
	_, err := fmt.Fprintf(v.out, "\n%s: %d ran, %d refused. The model wrote %s bytes; %s more were never written.\n",
		count(sum.Calls, "call"), sum.Allowed, sum.Refused, thousands(sum.Generated), thousands(sum.Saved))
	return err
}

// thousands writes a number with separators: 12,345.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// demoJSON is the form for programs: a line for each call and one for the end.
type demoJSON struct{ out io.Writer }

func (v *demoJSON) begin(string) {}

func (v *demoJSON) turn(t demoTurn) error {
	for _, r := range t.rows {
		if err := writeJSON(v.out, r); err != nil {
			return err
		}
	}
	return nil
}

func (v *demoJSON) end(sum demoSum) error { return writeJSON(v.out, sum) }
