package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/sqlite"
)

// Prompts summarises the rows of a time: from since, before until; a zero time is no bound. With rules, it counts only the calls that
// one of them decided. It calls progress with the number of rows that were read.
func (l *Log) Prompts(ctx context.Context, since, until time.Time, rules []stopgate.RuleID, progress func(n int)) (*Prompts, error) {
	p := new(Prompts)
	if s, ok := l.source.(*file); ok {
		if done, err := s.prompts(ctx, since, until, rules, p, progress); done || err != nil {
			return p, err
		}
	}
	_, err := l.Rows(ctx, Mark{}, &Filter{Since: since, Until: until}, func(r Row) bool {
		p.AddOf(rules, &r.Record)
		progress(1)
		return ctx.Err() == nil
	})
	return p, errors.Join(err, ctx.Err())
}

// prompts counts decisions by their columns, and reads only the rows of the calls that were asked about. ok is false if the file
// has rows without the columns.
func (s *file) prompts(ctx context.Context, since, until time.Time, rules []stopgate.RuleID, p *Prompts, progress func(n int)) (ok bool, err error) {
	filter := selectionIn(&Filter{Since: since, Until: until})
	q, ok, err := sqlite.QuestionsOf(ctx, s.db, filter.Since, filter.Until, rules)
	if err != nil || !ok {
		return false, err
	}
	first, last, err := q.Ends(ctx)
	if err != nil || first == nil {
		return true, err
	}
	err = q.Count(ctx, sameDay, func(r *stopgate.Record) bool { return unasked(r.Code) }, func(at time.Time, decisions, unasked int) {
		p.count(at, decisions, unasked)
		progress(decisions)
	})
	if err != nil {
		return true, err
	}
	err = q.Rows(ctx, func(at time.Time, id stopgate.ProposalID, event stopgate.AuditEvent, line []byte) error {
		r := &stopgate.Record{Kind: stopgate.RecordEvent, Time: at, ID: id, Event: event}
		if line != nil {
			if r, err = decided(line); err != nil || !ruledBy(rules, r) {
				return err
			}
			n := 0
			if unasked(r.Code) {
				n = 1
			}
			p.count(r.Time, -1, -n) // Add counts it
		}
		p.Add(r)
		return nil
	})
	if err != nil {
		return true, err
	}
	for line, at := range map[*[]byte]*time.Time{&first: &p.First, &last: &p.Last} {
		r, err := parse(*line)
		if err != nil {
			return true, err
		}
		*at = r.Time
	}
	return true, nil
}

// sameDay reports whether two times are on one day, and all times between them.
func sameDay(a, b time.Time) bool {
	return a.Local().Format(time.DateOnly) == b.Local().Format(time.DateOnly)
}

// count adds decisions without a question.
func (p *Prompts) count(at time.Time, decisions, unasked int) {
	p.Unasked += unasked
	if decisions != 0 {
		p.Calls += decisions
		p.day(at).Calls += decisions
	}
}

// unasked reports whether a code is that of a call that needed a question while no approver was present.
func unasked(c stopgate.Code) bool {
	return c == stopgate.CodeNoApprover || c == stopgate.CodePathNotKnown
}

// decided reads the members of a decision that [Prompts.Add] uses. Reading all of them takes several times as long.
func decided(line []byte) (*stopgate.Record, error) {
	var r struct {
		Time     time.Time             `json:"time"`
		ID       stopgate.ProposalID   `json:"id"`
		Session  stopgate.SessionID    `json:"session"`
		Tool     stopgate.ToolName     `json:"tool"`
		ArgsHash string                `json:"args_hash"`
		Status   stopgate.RecordStatus `json:"status"`
		Layer    stopgate.Layer        `json:"layer"`
		Code     stopgate.Code         `json:"code"`
		Rule     *stopgate.RuleRef     `json:"rule"`
		Floors   []stopgate.Floor      `json:"floors"`
		Approval *stopgate.Approval    `json:"approval"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("audit row: %w (verify says where the log is broken)", err)
	}
	return &stopgate.Record{
		Kind: stopgate.RecordDecision, Time: r.Time, ID: r.ID, Session: r.Session, Tool: r.Tool, ArgsHash: r.ArgsHash, Status: r.Status,
		Layer: r.Layer, Code: r.Code, Rule: r.Rule, Floors: r.Floors, Approval: r.Approval,
	}, nil
}
