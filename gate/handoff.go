package gate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// HandoffCall is a proposal to hand control to another agent (G2-06).
type HandoffCall struct {
	From, To  stopgate.AgentName // "" is "main"
	ID        stopgate.CallID
	Session   stopgate.SessionID
	Turn      stopgate.TurnID
	Principal stopgate.Principal
	Surface   stopgate.Surface
	// Payload is what the receiving agent gets: JSON, or nothing.
	Payload []byte
}

// HandoffPolicy is a deterministic policy for handoffs, written in Go (G2-03). It
// sees the proposal with the receiving agent in To and the payload in Args. Where no
// file has an entry for a handoff, one Permit allows it.
type HandoffPolicy interface {
	Name() string
	CheckHandoff(ctx context.Context, p Proposal) (Decision, error)
}

// mainAgent is the agent of calls without an agent name (S41).
const mainAgent = stopgate.AgentName("main")

// Handoff decides a proposal to hand control over. The entries of [[handoffs]] and
// the handoff policies decide; without an explicit allow it is denied
// policy_not_configured. Session policies that select "handoff:TO" hold too, ask is
// put to the approver, and every proposal gets its row. Outcome.Args is the payload.
//
// A transfer is possible once in a turn (X15). In deny mode throw the
// error of a denial is a *Denied of kind [Handoff].
func (g *Gate) Handoff(ctx context.Context, h HandoffCall) (stopgate.Outcome, error) {
	return g.handoffIn(ctx, g.turn(session.Owner{Principal: h.Principal, Session: h.Session}, h.Turn), h)
}

func (g *Gate) handoffIn(ctx context.Context, t *turn, h HandoffCall) (stopgate.Outcome, error) {
	if h.From == "" {
		h.From = mainAgent
	}
	call := stopgate.Call{
		Tool: "handoff", ID: h.ID, Session: h.Session, Turn: h.Turn, Agent: h.From, Principal: h.Principal, Surface: h.Surface,
	}
	p, err := g.newPending(t, call, "")
	if err != nil {
		return stopgate.Outcome{}, err
	}
	p.kind, p.to = Handoff, h.To
	short(p, &p.to, maxName)
	p.begin()
	p.checkNames()
	payload := h.Payload
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	p.beginSession(ctx)
	p.Feed(payload)
	p.Close(stopgate.Ended)
	return p.Resolve(ctx)
}

// hand is the combined result of the policy files for one handoff. It is zero if no
// entry applies.
type handoffResult struct {
	found    bool
	mode     stopgate.Mode
	delegate bool
	inherit  bool
	reason   string
}

// handoff combines the layers: the first entry that applies in each layer, and the strictest
// of all layers (K35). A layer without such an entry abstains.
func (c *compiled) handoff(from, to stopgate.AgentName) handoffResult {
	var all handoffResult
	if to == "" {
		return all
	}
	for _, layer := range c.handoffs {
		for _, h := range layer {
			if !h.Applies(from, to) {
				continue
			}
			if !all.found {
				all = handoffResult{found: true, mode: h.Mode, delegate: h.Delegate, inherit: h.Inherit, reason: h.Reason}
				break
			}
			if stopgate.Strictest(h.Mode, all.mode) != all.mode {
				all.reason = h.Reason
			}
			all.mode = stopgate.Strictest(h.Mode, all.mode)
			all.delegate, all.inherit = all.delegate && h.Delegate, all.inherit || h.Inherit
			break
		}
	}
	return all
}

// verdict returns the verdict of the files. policies reports that there are handoff policies
// in Go, which may permit a handoff without an entry.
func (h handoffResult) verdict(policies bool) stopgate.Verdict {
	v := stopgate.Verdict{Decided: true, Mode: h.mode, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched, Public: h.reason}
	if !h.found {
		v.Layer, v.Code, v.Mode = stopgate.LayerGate, stopgate.CodePolicyNotConfigured, stopgate.Deny
		if policies { // they have to permit it: see askHandoffPolicies
			v.Mode, v.Code = stopgate.Unattended, stopgate.CodeRuleMatched
		}
	}
	if v.Public == "" {
		v.Public = v.Code.Public()
		if v.Code == stopgate.CodePolicyNotConfigured {
			v.Public = "No policy covers this handoff."
		}
	}
	return v
}

// handoffRules are the [Rules] of a handoff. Of its payload only the JSON syntax is checked; the
// verdict does not depend on it.
type handoffRules struct {
	g      *Gate
	result handoffResult
}

func (t *handoffRules) Evaluate() Evaluation {
	return &payloadEvaluation{trace: []stopgate.Verdict{t.result.verdict(len(t.g.handoffs) > 0)}}
}

// Unknown reports false: it is about tools, see askHandoffPolicies for handoffs.
func (t *handoffRules) Unknown() (stopgate.Mode, bool) { return stopgate.Deny, false }

// ResultMode delivers: the answer of the receiving agent is not judged here.
func (t *handoffRules) ResultMode(*jsonstream.Document) stopgate.Verdict {
	return stopgate.Verdict{Decided: true, Mode: stopgate.Unattended, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched}
}

// IsPath reports no paths.
func (t *handoffRules) IsPath(jsonstream.Pointer) bool { return false }

type payloadEvaluation struct {
	text  []byte
	doc   jsonstream.Document
	trace []stopgate.Verdict
}

func (c *payloadEvaluation) Feed(chunk []byte) stopgate.Verdict {
	c.text = append(c.text, chunk...)
	return c.Verdict()
}

func (c *payloadEvaluation) Close(stopgate.End) stopgate.Verdict {
	if err := c.doc.Scan(c.text, jsonstream.Options{}); err != nil && !c.Verdict().Terminal() {
		code := stopgate.CodeMalformedArguments
		var fault *jsonstream.Error
		if errors.As(err, &fault) {
			code = fault.Code
		}
		c.trace = append(c.trace, stopgate.Verdict{
			Decided: true, Layer: stopgate.LayerIntegrity, Code: code, DecidedAt: int64(len(c.text)), Public: code.Public(),
		})
	}
	return c.Verdict()
}

func (c *payloadEvaluation) Verdict() stopgate.Verdict                   { return *c.Latest() }
func (c *payloadEvaluation) Latest() *stopgate.Verdict                   { return &c.trace[len(c.trace)-1] }
func (c *payloadEvaluation) Trace() []stopgate.Verdict                   { return c.trace }
func (c *payloadEvaluation) Instead() string                             { return "" }
func (c *payloadEvaluation) Watch([]jsonstream.Pointer)                  {}
func (c *payloadEvaluation) Watched() (jsonstream.Pointer, []byte, bool) { return nil, nil, false }
func (c *payloadEvaluation) Cause() string                               { return "" }
func (c *payloadEvaluation) Document() *jsonstream.Document              { return &c.doc }
func (c *payloadEvaluation) Args() []byte                                { return c.text }
func (c *payloadEvaluation) Leaves() []Leaf                              { return nil }
func (c *payloadEvaluation) Asking() []string                            { return nil }
func (c *payloadEvaluation) Release()                                    {}

// receiver finds the agent that a tool's call hands over to, where a file declares
// the tool as a handoff (S41): the argument it names, else what "*"
// matches in the tool's name.
func (c *compiled) receiver(tool stopgate.ToolName, args jsonstream.Value) (to stopgate.AgentName, is bool) {
	for _, layer := range c.handoffs {
		for _, h := range layer {
			if to, is := h.Receiver(tool, args); is {
				return to, true
			}
		}
	}
	return "", false
}

// askHandoffPolicies judges a handoff, or a call of a tool that is one: whether it is
// allowed, and that the turn has not handed over before.
func (p *pending) askHandoffPolicies(ctx context.Context, prop *Proposal) {
	h := handoffResult{}
	switch to, is := p.under.receiver(p.tool, p.eval.Document().Root()); {
	case p.kind == Handoff:
		h = p.under.handoff(p.call.Agent, p.to)
	case is:
		from := p.call.Agent
		if from == "" {
			from = mainAgent
		}
		p.to, prop.To = to, to
		h = p.under.handoff(from, to)
		v := h.verdict(len(p.g.handoffs) > 0)
		v.DecidedAt, v.Floors = p.received, p.verdict().Floors
		p.mu.Lock()
		p.addVerdict(v)
		p.mu.Unlock()
	default:
		return
	}
	permitted := h.found
	for _, hp := range p.g.handoffs {
		if p.isTerminal() {
			return
		}
		permitted = p.askPolicy(ctx, hp.Name(), func(ctx context.Context) (Decision, error) { return hp.CheckHandoff(ctx, *prop) }) || permitted
	}
	if !permitted && !p.isTerminal() {
		p.forbid(stopgate.LayerGate, stopgate.CodePolicyNotConfigured, "No policy covers this handoff.")
	}
	if p.isTerminal() {
		return
	}
	p.handoffResult = h
	if h.inherit && p.g.store == nil {
		p.fail(stopgate.CodeStoreUnavailable, "no store", none, "")
		return
	}
	if !h.delegate && !p.under.observe && !p.turn.takeTransition(p.id) {
		p.forbid(stopgate.LayerGate, stopgate.CodeHandoffAlreadyTaken, "")
	}
}

// Inheritance (S9): with inherit in its entry, a handoff applies the tables of the agents who
// handed over to the receiver too.

// inheritKey returns the key of the agents whose tables apply to an agent.
func inheritKey(agent stopgate.AgentName) session.Key {
	return session.NoteKey("stopgate:inherit", string(agent))
}

// inherits reports whether any handoff of the policy passes tables on.
func inherits(layers [][]HandoffRule) bool {
	return slices.ContainsFunc(layers, func(l []HandoffRule) bool {
		return slices.ContainsFunc(l, func(h HandoffRule) bool { return h.Inherit })
	})
}

// inheritFact returns the fact that applies the sender's tables to the receiver.
func (p *pending) inheritFact(at int64) session.Fact {
	senders := append([]string{string(p.call.Agent)}, p.senders...)
	f := session.Note("stopgate:inherit", string(p.to), strings.Join(senders, "\n"))
	f.Proposal, f.At = p.id, at
	return f
}

// passesTables reports whether the handoff has an [pending.inheritFact].
func (p *pending) passesTables() bool { return p.handoffResult.inherit && p.to != "" }

// askSenders evaluates the call under the tables of the agents who handed over to its agent:
// the strictest verdict wins.
func (p *pending) askSenders() {
	for _, sender := range p.senders {
		p.mu.Lock()
		if p.terminal {
			p.mu.Unlock()
			return
		}
		call := p.call
		call.Agent = stopgate.AgentName(sender)
		func() {
			defer p.recoverPolicy()
			e := p.under.binding(&call, p.data).rules.Evaluate()
			e.Feed(p.final)
			v := e.Close(stopgate.Ended)
			if !v.Decided {
				v = p.refusal(stopgate.LayerFailure, stopgate.CodePolicyError)
			}
			p.addVerdict(v)
		}()
		p.mu.Unlock()
	}
}
