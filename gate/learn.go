package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// learn makes facts of a result: the end of the call, and the notes of policies.
func (g *Gate) learn(ctx context.Context, rel *release, r stopgate.Result) error {
	if !g.sessions.exists() {
		return nil
	}
	ctx, cancel := port.Detached(ctx)
	defer cancel()
	k, whose := session.CallKey(r.Proposal), owner(&rel.call)
	state := g.sessions.load(ctx, whose, []session.Key{k})
	if state.Fault != port.None {
		return state.Problem("result")
	}
	cell, _ := state.Value.Cell(k)
	if cell.Call.Fact == nil {
		return nil // released before there was a store
	}
	if cell.Call.Done != "" {
		return ErrUnmatched
	}
	now := g.current.Load().of(whose.Session)
	set, released := now.policies(g.registry.Set()), cell.Call.Fact
	c := session.Call{
		Proposal: released.Proposal, Tool: released.Tool, Agent: released.Agent, Turn: released.Turn, ID: released.CallID,
		ArgsHash: released.ArgsHash, To: released.Release.Receiver(),
	}
	observed := set.Observed(c.Tool)
	if observed {
		c.Args = rel.arguments(&r, c.ArgsHash)
	}
	kind := now.kindOf(released.Tool, r)
	end := session.Fact{
		At: g.now().UnixMilli(), Kind: kind, Proposal: released.Proposal, Tool: released.Tool, CallID: released.CallID,
		Agent: released.Agent, Turn: released.Turn, Observed: r.Observed, Hash: contentHash(r),
	}
	res := session.Result{Call: c, Kind: kind, Data: bytes.Clone(r.Content()), Hash: end.Hash, At: end.At, Seen: r.Observed, Marked: released.Marks}
	keys := distinct(append(append(released.Keys(), end.Keys()...), set.ObserverNeeds(c)...))
	if observed && set.Limit(c.Tool) > 0 {
		// A policy in another process answers in the step of the store as it did here.
		if now := g.sessions.load(ctx, whose, keys); now.Fault == port.None {
			_, _ = g.notesOf(ctx, set, session.View{State: now.Value, Owner: whose, Now: end.At, Horizon: now.Value.Head}, res)
		}
	}
	for {
		answer := update(ctx, g.sessions, whose, keys, func(s session.State) (Change, struct{}, error) {
			cell, _ := s.Cell(k)
			if cell.Call.Fact == nil || cell.Call.Done != "" {
				return Change{}, struct{}{}, ErrUnmatched
			}
			change := Change{Facts: []session.Fact{end}}
			if !observed {
				return change, struct{}{}, nil
			}
			notes, err := g.notesOf(ctx, set, session.View{State: s, Owner: whose, Now: end.At, Horizon: s.Head}, res)
			change.Facts = append(change.Facts, notes...)
			return change, struct{}{}, err
		})
		var more notLoadedError
		if !errors.As(answer.Err, &more) || len(keys) > maxNotes {
			return answer.Problem("result")
		}
		keys = append(keys, more.keys...)
	}
}

// maxNotes bounds the cells that the notes about one result are written to.
const maxNotes = 256

// notLoadedError is the error of notes on cells that were not loaded.
type notLoadedError struct{ keys []session.Key }

func (notLoadedError) Error() string { return "session policies: notes on cells that were not loaded" }

// notesOf asks the observers of a result for their notes.
func (g *Gate) notesOf(ctx context.Context, set *session.Set, v session.View, r session.Result) ([]session.Fact, error) {
	v.State = v.State.Copy() // code that overruns its deadline may still read it
	notes := port.Invoke(ctx, &g.guards.policies, g.limits.Policy+set.Limit(r.Call.Tool), func(context.Context) ([]session.Fact, error) {
		return set.Learn(v, r)
	})
	if notes.Fault != port.None {
		g.reportTrouble("session policies", r.Call.Proposal, notes.Fault, notes.Err)
		return nil, errors.New("session policies: " + notes.Fault.String())
	}
	var more notLoadedError
	for i := range notes.Value {
		if k := notes.Value[i].Key; !v.State.Has([]session.Key{k}) && !slices.Contains(more.keys, k) {
			more.keys = append(more.keys, k)
		}
	}
	if more.keys != nil {
		return nil, more
	}
	return notes.Value, nil
}

// arguments returns the arguments that ran: the gate's own copy, or those that the surface
// repeats if their hash is that of the release. They are not valid if there are none.
func (r *release) arguments(result *stopgate.Result, hash string) jsonstream.Value {
	text, repeated := r.args, r.args == nil
	if repeated {
		text = result.Args
	}
	text = bytes.Clone(text)
	v, err := jsonstream.Parse(text, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return jsonstream.Value{}
	}
	if sum := jsonstream.HashCanonical(v); repeated && (hash == "" || hex.EncodeToString(sum[:]) != hash) {
		return jsonstream.Value{}
	}
	return v
}

// executed returns the arguments that ran, nil if they are not known: the gate's own copy, or those
// that the surface repeats if their hash is that of the release.
func (r *release) executed(result *stopgate.Result) []byte {
	if r.args != nil {
		return bytes.Clone(r.args)
	}
	v, err := jsonstream.Parse(result.Args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil || len(result.Args) > maxResultArgs {
		return nil
	}
	if sum := jsonstream.HashCanonical(v); r.hash == "" || hex.EncodeToString(sum[:]) != r.hash {
		return nil
	}
	return bytes.Clone(result.Args)
}

// kindOf returns the kind of fact for a result: the call succeeded, failed or is unclear (S24).
func (c *compiled) kindOf(tool stopgate.ToolName, r stopgate.Result) session.Kind {
	switch rule := c.success(tool); {
	case r.Absent && r.Observed:
		return session.Absent
	case r.Failed:
		return session.Failed
	case rule != nil && rule(r.Content()):
		return session.Succeeded
	case rule != nil:
		return session.Failed
	case r.Observed || r.Flagged:
		return session.Succeeded
	}
	return session.Finished
}

// success returns the rule by which results of a tool are read, nil if there is none.
func (c *compiled) success(tool stopgate.ToolName) func(data []byte) bool {
	if s, ok := c.readings.Get(tool); ok {
		return s
	}
	s := c.policy.ResultStatus(tool)
	c.readings.Put(tool, s)
	return s
}

func contentHash(r stopgate.Result) string {
	content := r.Content()
	if r.Hash != "" || content == nil {
		return strings.ToLower(r.Hash)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
