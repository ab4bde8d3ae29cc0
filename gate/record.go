package gate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// identity returns the fields of a row that identify the call.
func identity(c *stopgate.Call) stopgate.Record {
	return stopgate.Record{
		Session: c.Session, Principal: c.Principal, Surface: c.Surface, Dialect: c.Dialect, Agent: c.Agent, Turn: c.Turn,
		Tool: c.Tool, CallID: c.ID,
	}
}

func (p *pending) identity() stopgate.Record {
	r := identity(&p.call)
	r.ID, r.Parent, r.Handoff, r.Policy, r.Unversioned = p.id, p.parent, p.to, p.under.hash, p.under.unversioned
	return r
}

// policyHash returns the hash of the policy that decided.
func (p *pending) policyHash() string {
	if p.judgedBy != "" {
		return p.judgedBy
	}
	return p.under.hash
}

// row returns the decision row of the proposal; p.mu is held.
func (p *pending) row(v *stopgate.Verdict, status stopgate.RecordStatus, approval *stopgate.Approval) *stopgate.Record {
	r := new(stopgate.Record)
	*r = p.identity()
	r.Version, r.Kind, r.Time = stopgate.RecordVersion, stopgate.RecordDecision, p.g.now().UTC()
	r.ArgsHash, r.ArgsBytes = p.hash, p.received
	of := &struct { // the values that the row points to
		mode     stopgate.Mode
		enforced bool
		at       int64
	}{v.Mode, !p.under.observe, v.DecidedAt}
	r.Status, r.Mode, r.Layer, r.Code, r.Cause = status, &of.mode, v.Layer, v.Code, p.cause
	r.Rule, r.Candidates, r.Pointer, r.DecidedAt = v.Rule, slices.Clone(v.Candidates), v.Pointer, &of.at
	if s := v.Segment; s != nil {
		r.Segment = &stopgate.Segment{Index: s.Index, Of: s.Of}
	}
	r.Floors, r.Objections, r.Judge, r.Approval, r.FactsAt = v.Floors, p.objections, p.judged, approval, p.factsAt
	r.Policy, r.Definition, r.PathResolution, r.Enforced = p.policyHash(), p.definition, cmp.Or(p.under.paths, "lexical"), &of.enforced
	r.Context = p.context()
	r.ReleasedHash = p.releasedHash
	if p.g.audit.can.KeepsArguments {
		p.keepArgs(r)
	}
	clean(r)
	return r
}

// keepArgs gives a row the arguments that belong to its hash. Those of a call that
// was refused early were not judged to their end: they count if they are one value.
func (p *pending) keepArgs(r *stopgate.Record) {
	if p.final != nil {
		r.Args = bytes.Clone(p.final)
		return
	}
	if !p.ended || int64(len(p.raw)) != p.received {
		return
	}
	if v, err := jsonstream.Parse(p.raw, jsonstream.Options{}); err == nil {
		sum := jsonstream.HashCanonical(v)
		r.ArgsHash, r.Args = hex.EncodeToString(sum[:]), bytes.Clone(p.raw)
	}
}

// note writes an event row about a question. The row of an immediate answer is held back and
// written with the decision row, see [commitment.rows].
func (p *pending) note(ctx context.Context, q *prompt, event stopgate.AuditEvent, code stopgate.Code, a *stopgate.Approval) {
	p.mu.Lock()
	r := p.identity()
	r.Event, r.Code, r.Approval = event, code, a
	if q.able.Immediate {
		p.g.audit.complete(&r)
		p.heldRows = append(p.heldRows, r)
		p.mu.Unlock()
		return
	}
	before := p.heldRows // of an earlier question
	p.heldRows = nil
	p.mu.Unlock()
	for i := range before {
		p.g.audit.put(ctx, before[i])
	}
	p.g.audit.note(ctx, r)
}

// appendCopies appends a copy of each row of the second list.
func appendCopies(rows []*stopgate.Record, kept []stopgate.Record) []*stopgate.Record {
	for _, r := range kept {
		rows = append(rows, &r)
	}
	return rows
}

// notifyHeldRows notifies the tracer of the rows that were held back, after they were written or
// lost.
func (p *pending) notifyHeldRows(ctx context.Context) {
	p.mu.Lock()
	kept := p.heldRows
	p.heldRows = nil
	p.mu.Unlock()
	for _, r := range kept {
		p.g.audit.notify(ctx, r)
	}
}

// clean makes every text of a row printable and short. Names and ids are chosen by models,
// clients and servers (H17).
func clean(r *stopgate.Record) {
	r.Session = stopgate.SessionID(word(string(r.Session)))
	r.Principal = stopgate.Principal(word(string(r.Principal)))
	r.Surface = stopgate.Surface(word(string(r.Surface)))
	r.Dialect = word(r.Dialect)
	r.Agent = stopgate.AgentName(word(string(r.Agent)))
	r.Turn = stopgate.TurnID(word(string(r.Turn)))
	r.Tool = stopgate.ToolName(word(string(r.Tool)))
	r.CallID = stopgate.CallID(word(string(r.CallID)))
	r.Handoff = stopgate.AgentName(word(string(r.Handoff)))
	r.ID = stopgate.ProposalID(word(string(r.ID)))
	r.Parent = stopgate.ProposalID(word(string(r.Parent)))
	r.Cause = word(r.Cause)
	r.Pointer = word(r.Pointer)
	if r.Judge != nil {
		j := *r.Judge
		j.Model, j.Prompt, j.Input, j.Fault = word(j.Model), word(j.Prompt), word(j.Input), word(j.Fault)
		j.Explanation = word(j.Explanation)
		r.Judge = &j
	}
	if r.Approval != nil {
		a := *r.Approval
		a.ID, a.By = word(a.ID), word(a.By)
		r.Approval = &a
	}
	if r.Floors != nil {
		floors := make([]stopgate.Floor, min(len(r.Floors), maxList))
		copy(floors, r.Floors)
		for i := range floors {
			floors[i].Pointer = word(floors[i].Pointer)
		}
		r.Floors = floors
	}
	if r.Objections != nil {
		objections := make([]string, min(len(r.Objections), maxList))
		copy(objections, r.Objections)
		for i := range objections {
			objections[i] = word(objections[i])
		}
		r.Objections = objections
	}
	if len(r.Candidates) > maxList {
		r.Candidates = r.Candidates[:maxList]
	}
}

// Bounds of what one row holds.
const (
	maxWord = 256 // bytes of a name, an id, a pointer
	maxList = 64  // floors, objections, candidates
)

// word returns a text in the form that rows may hold. A text of printable characters up to
// maxWord bytes stays as it is; any other is quoted as Go quotes strings, and a
// long one is cut and ends with its length and hash.
func word(s string) string {
	if len(s) <= maxWord && printable(s) {
		return s
	}
	rest := ""
	if len(s) > maxWord {
		sum := sha256.Sum256([]byte(s))
		rest = "... (" + strconv.Itoa(len(s)) + " bytes, sha256 " + hex.EncodeToString(sum[:8]) + ")"
		cut := maxWord
		for cut > maxWord-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	if !printable(s) {
		s = strconv.Quote(s)
	}
	return s + rest
}

func printable(s string) bool {
	if plain(s) {
		return true
	}
	for i, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError || r == '"' && i == 0 {
			return false
		}
	}
	return true
}

// plain reports whether a text has only printable ASCII characters, except for space and
// quotation mark. It is a fast path of printable.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' {
			return false
		}
	}
	return true
}
