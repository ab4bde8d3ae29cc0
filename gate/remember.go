package gate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/turn"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// PastCall is an earlier call of a conversation as a client's request reports it. The report is
// a claim: it counts only for a call that the gate released.
type PastCall struct {
	// Proposal is the call, where the surface knows it by itself.
	Proposal stopgate.ProposalID
	Call     stopgate.CallID
	Tool     stopgate.ToolName
	// Definition is the tool's definition in the request, nil if there is none.
	Definition *stopgate.ToolDefinition
	// Args returns the arguments as JSON text. It is nil where the request has only
	// the result, and is not called where they do not matter.
	Args func() []byte
	// Answered reports that the request has a result. Result returns the result and
	// whether it reports a failure; it is only called for results that are new.
	Answered bool
	Result   func() (data []byte, failed bool)
	Flagged  bool // see stopgate.Result
}

// KnownCall is the answer of the gate to a [PastCall].
type KnownCall struct {
	// Proposal is the released call, "" if there is none.
	Proposal stopgate.ProposalID
	// Withheld reports that the model must receive Data in place of the result (S11).
	// Data is the same for every request.
	Withheld bool
	Data     []byte
}

// Memory controls how a turn uses the reports of a request.
type Memory struct {
	// Learn records results as facts. Without it the turn belongs to no conversation, and
	// Remember only finds the results that must be withheld.
	Learn bool
	// Isolated reports that the session was guessed: the turn sees only calls of it that the
	// request reports and the store confirms.
	Isolated bool
	// Texts reports that the surface adds the texts of the request with [Gate.AddTexts]: results
	// are facts only, but those of released calls whose arguments the request lacks.
	Texts bool
	// LastMessage identifies the user's newest message, "" if there is none. If it differs
	// from the one before, the user sent a message (S27, S28).
	LastMessage string
	// FirstRequest reports that the request is the first of its conversation: the user sent
	// a message, even if it is equal to the last one under the same session id.
	FirstRequest bool
}

// Remember passes the earlier calls that the client's request reports to the turn, oldest
// first, before its first call. Results of released calls become facts, once. Entries of the
// same call id, tool and arguments are aligned from their ends, so that the last entry is the
// newest released call. The answers are in the order of the entries.
//
// After an error facts may be missing. Where the released calls cannot be looked up, the
// results that the request has are unknown to the turn, so its governed calls are denied
// store_unavailable (FM2); the next request has the same results and is asked again. A result
// that cannot be recorded makes the session uncertain (FM16). In a session that was guessed
// any error denies the governed calls of the turn.
func (t *Turn) Remember(ctx context.Context, like stopgate.Call, past []PastCall, m Memory) ([]KnownCall, error) {
	r := historyMatch{g: t.g, turn: t, template: t.inTurn(like), calls: past, memory: m, known: make([]KnownCall, len(past)), open: make([]bool, len(past)), hashes: make([]string, len(past))}
	if m.Isolated {
		t.state.Isolated = new(turn.Isolated)
	}
	var err error
	if t.g.sessions.exists() {
		if err = r.recall(ctx); err != nil && (m.Isolated || r.unresolved) {
			t.state.Unreadable = true
		}
	}
	r.judge()
	return r.known, err
}

// historyMatch is the state of one call of Remember.
type historyMatch struct {
	g          *Gate
	turn       *Turn
	template   stopgate.Call
	calls      []PastCall
	memory     Memory
	known      []KnownCall
	open       []bool   // the result of the call has not been observed yet
	hashes     []string // of the arguments, "" until asked for
	unresolved bool     // there are results whose calls could not be looked up
}

// recall finds the released calls of the entries, and observes their results.
func (r *historyMatch) recall(ctx context.Context) error {
	g, owner := r.g, r.turn.owner
	keys := []session.Key{session.Self}
	for i := range r.calls {
		keys = append(keys, r.key(i))
	}
	state := g.sessions.load(ctx, owner, distinct(keys))
	if state.Fault != port.None {
		r.unresolved = r.memory.Learn && slices.ContainsFunc(r.calls, func(t PastCall) bool { return t.Answered })
		return state.Problem("history")
	}
	var err error
	if r.memory.Learn && r.memory.LastMessage != "" {
		if self, _ := state.Value.Cell(session.Self); self.Condition().LastMessage != r.memory.LastMessage || r.memory.FirstRequest {
			err = g.sessions.append(ctx, owner, session.Fact{Kind: session.Spoke, Hash: r.memory.LastMessage})
		}
	}
	r.align(state.Value)
	for i := range r.calls {
		if t := &r.calls[i]; r.memory.Learn && r.open[i] && t.Answered {
			data, bad := t.Result()
			result := stopgate.Result{
				Proposal: r.known[i].Proposal, Call: t.Call, Session: owner.Session, Principal: owner.Principal, Tool: t.Tool,
				Conversation: r.template.Conversation, Failed: bad, Flagged: t.Flagged, Data: data, Args: r.arguments(t),
			}
			observe := g.Observe
			if r.memory.Texts && t.Args != nil {
				observe = g.observeFacts
			}
			_, failed := observe(ctx, result)
			if failed != nil && !errors.Is(failed, ErrUnmatched) { // a concurrent request observed it first
				err = failed
			}
		}
	}
	if r.memory.Learn && r.memory.Isolated {
		if failed := r.replay(ctx); failed != nil {
			err = failed
		}
	}
	if r.memory.Learn {
		r.noteUnmatched(ctx)
	}
	return err
}

// arguments returns the arguments of an entry if a session policy observes its result, or texts
// are read.
func (r *historyMatch) arguments(t *PastCall) []byte {
	now := r.g.current.Load().of(r.turn.owner.Session)
	if t.Args == nil || now.reader == nil && !now.policies(r.g.registry.Set()).Observed(now.name(t.Tool)) {
		return nil
	}
	return t.Args()
}

// key returns the key of the released calls with the id of an entry.
func (r *historyMatch) key(i int) session.Key {
	return session.OpenKey(r.calls[i].Call, r.g.current.Load().of(r.turn.owner.Session).name(r.calls[i].Tool))
}

// align finds the released call of each entry.
func (r *historyMatch) align(s session.State) {
	cells := make(map[session.Key][]candidate)
	for _, e := range s.Entries() {
		cells[e.Key] = candidates(e.Cell)
	}
	for i := len(r.calls) - 1; i >= 0; i-- {
		k := r.key(i)
		list := cells[k]
		for at := len(list) - 1; at >= 0; at-- {
			c := list[at]
			switch t := &r.calls[i]; {
			case t.Proposal != "" && t.Proposal != c.Proposal:
				continue
			case t.Proposal == "" && (c.Args == "" || c.Args != r.hash(i)):
				continue
			}
			r.known[i] = KnownCall{Proposal: c.Proposal, Withheld: c.Held}
			r.open[i] = c.open
			cells[k] = slices.Delete(list, at, at+1)
			break
		}
	}
}

// candidate is a released call that may match an entry.
type candidate struct {
	session.Open
	open bool
}

// candidates returns the calls of one id in the order of release.
func candidates(c *session.Cell) (list []candidate) {
	for _, o := range c.Past {
		list = append(list, candidate{o, false})
	}
	for _, o := range c.Open {
		list = append(list, candidate{o, true})
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

// hash returns the hash of an entry's arguments, "-" if they are not JSON.
func (r *historyMatch) hash(i int) string {
	if r.hashes[i] == "" {
		r.hashes[i] = "-"
		if t := &r.calls[i]; t.Args != nil {
			if v, err := jsonstream.Parse(t.Args(), jsonstream.Options{MaxExponent: jsonstream.AnyExponent}); err == nil {
				sum := jsonstream.HashCanonical(v)
				r.hashes[i] = hex.EncodeToString(sum[:])
			}
		}
	}
	return r.hashes[i]
}

// replay builds the state of an isolated turn from the calls that were found, in the order of
// their facts.
func (r *historyMatch) replay(ctx context.Context) error {
	var keys []session.Key
	for i := range r.known {
		if id := r.known[i].Proposal; id != "" {
			keys = append(keys, session.CallKey(id))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	state := r.g.sessions.load(ctx, r.turn.owner, keys)
	if state.Fault != port.None {
		return state.Problem("history")
	}
	type happened struct {
		fact *session.Fact
		keys []session.Key
	}
	var all []happened
	for _, e := range state.Value.Entries() {
		if issued := e.Cell.Call; issued.Fact != nil {
			all = append(all, happened{issued.Fact, issued.Fact.Keys()})
			if end := issued.End; end != nil {
				all = append(all, happened{end, append(issued.Fact.Keys(), end.Keys()...)})
			}
		}
	}
	slices.SortFunc(all, func(a, b happened) int { return cmp.Compare(a.fact.Seq, b.fact.Seq) })
	for _, h := range all {
		r.turn.state.Isolated.Add(0, *h.fact, h.keys)
	}
	return nil
}

// noteUnmatched writes one row about results of calls that the gate did not release.
// A history repeats them in every request: a result that was noted recently is not noted
// again.
func (r *historyMatch) noteUnmatched(ctx context.Context) {
	row := stopgate.Record{Event: stopgate.AuditUnmatchedResult, Code: stopgate.CodeUnmatchedResult,
		Session: r.turn.owner.Session, Principal: r.turn.owner.Principal, Turn: r.turn.id, Agent: r.template.Agent,
		Surface: r.template.Surface, Dialect: r.template.Dialect, Policy: r.g.PolicyHash()}
	for i := range r.calls {
		t := &r.calls[i]
		if !t.Answered || r.known[i].Proposal != "" {
			continue
		}
		claim := unmatched{r.turn.owner, t.Call, t.Tool}
		if _, known := r.g.unmatched.Get(claim); known {
			continue
		}
		r.g.unmatched.Put(claim, struct{}{})
		if row.Count++; row.Count == 1 {
			row.CallID, row.Tool = t.Call, t.Tool
		}
	}
	if row.Count > 0 {
		r.g.audit.Note(ctx, row)
	}
}

// unmatched is a result that belongs to no released call.
type unmatched struct {
	owner session.Owner
	call  stopgate.CallID
	tool  stopgate.ToolName
}

// judge decides about the results of calls that the store does not know: by the current rules
// on the arguments that the request reports. It sets the data for withheld results (K32).
func (r *historyMatch) judge() {
	now := r.g.current.Load().of(r.turn.owner.Session)
	for i := range r.calls {
		t, k := &r.calls[i], &r.known[i]
		if t.Answered && k.Proposal == "" && now.looksAtResults && !now.observe {
			k.Withheld = !r.delivers(now, t)
		}
		if !t.Answered {
			k.Withheld = false
		}
		if k.Withheld {
			k.Data = bytes.Clone(withheld(stopgate.Deny).Data)
		}
	}
}

// delivers reports whether the result rules deliver the result of a call with these arguments.
// Results that cannot be judged are withheld.
func (r *historyMatch) delivers(now *compiled, t *PastCall) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	call := r.template
	call.ID, call.Tool, call.Definition = t.Call, t.Tool, t.Definition
	b := now.binding(&call, jsonstream.Value{}, nil)
	var executed jsonstream.Document
	if t.Args != nil {
		_ = executed.Scan(t.Args(), jsonstream.Options{}) // after an error the document is not valid, and the result is withheld
	}
	v := b.rules.ResultMode(&executed, nil)
	return v.Decided && v.Mode.Permissive()
}
