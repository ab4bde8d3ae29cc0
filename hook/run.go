package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/hook/once"
	"github.com/stopgate/stopgate/internal/stack"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// DefaultDeadline is how long an event may take where the host's timeout is not known
// (DECISIONS S47): hosts give 30 s and more.
const DefaultDeadline = 24 * time.Second

// Options say how events are answered.
type Options struct {
	// Open makes the gate for an event; it is called once, when it is known that
	// there is something to decide.
	Open func(ctx context.Context, e *Event) (*Backend, error)
	// Observe says nothing to the host, whatever happens (DECISIONS S31).
	Observe bool
	// Allow answers "allow" for calls that the policy lets run unattended, which skips
	// the host's own question; otherwise nothing is said (DECISIONS S32).
	Allow bool
	// Deadline is the time for everything, 0 for DefaultDeadline.
	Deadline time.Duration
	// Unrecorded is told of a call that is denied although no gate decided, so that it has
	// a row as well; nil for nobody.
	Unrecorded func(e *Event, code stopgate.Code)
	// Talk gets one line about what went wrong, for people; nil for nobody.
	Talk io.Writer
}

// Backend is what decides about one event.
type Backend struct {
	Gate *gate.Gate
	// Allow is Options.Allow as the policy file says it.
	Allow bool
	// Results says whether anybody wants to hear of results.
	Results bool
	// Approver answers where the host asks nobody; nil for nobody. It is the gate's
	// approver through Approver.
	Approver *Approver
	// Once keeps several hooks from deciding about one call; nil where each decides.
	Once *once.Desk
	// Waits is told that another hook decides about the call; nil for nobody.
	Waits func()
}

// Run reads one event and answers it. It returns by the deadline, whatever the rest
// of the process does.
func (h *Host) Run(ctx context.Context, o Options, input io.Reader) Reply {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	type result struct {
		event  *Event
		answer Answer
	}
	read, done := make(chan *Event, 1), make(chan result, 1)
	go func() {
		stack.Grow()
		e, a := new(Event), failure(stopgate.CodePolicyError)
		defer func() {
			if p := recover(); p != nil {
				o.say("panic: %v", p)
				a = failure(stopgate.CodePolicyError)
			}
			done <- result{e, a}
		}()
		text, err := io.ReadAll(io.LimitReader(input, MaxInput+1))
		if err == nil {
			e, err = h.Read(text)
		}
		if err != nil {
			o.say("the event of %s cannot be read: %v", h.Title, err)
			a = failure(stopgate.CodeProtocolViolation)
			return
		}
		read <- e
		// The gate ends before the host has to be answered, with a row.
		own, cancel := context.WithTimeout(ctx, o.Deadline-min(o.Deadline/10, 2*time.Second))
		defer cancel()
		a = h.decide(own, o, e)
	}()
	e := new(Event)
	for {
		select {
		case e = <-read:
			read = nil
		case r := <-done:
			return h.reply(o, r.event, r.answer)
		case <-ctx.Done():
			o.say("no verdict within %v", o.Deadline)
			o.unrecorded(e, stopgate.CodePolicyTimeout)
			return h.reply(o, e, failure(stopgate.CodePolicyTimeout))
		}
	}
}

// unrecorded has a call recorded that is denied without a gate. A gate that has it writes
// the row itself, also when its time is over: that ends before.
func (o Options) unrecorded(e *Event, code stopgate.Code) {
	if o.Unrecorded != nil && e.Kind == Before && !o.Observe && e.row.CompareAndSwap(false, true) {
		o.Unrecorded(e, code)
	}
}

func (o Options) say(format string, args ...any) {
	if o.Talk != nil {
		fmt.Fprintf(o.Talk, "stopgate: "+format+"\n", args...)
	}
}

// reply is the answer in the host's words. Words that panic still block.
func (h *Host) reply(o Options, e *Event, a Answer) (r Reply) {
	if o.Observe {
		a = Answer{Action: Silent}
	}
	if e.Kind == Prompt && a.Action == Block {
		a = Answer{Action: Silent} // the user may always speak; the session only stays stricter
	}
	defer func() {
		if p := recover(); p != nil && !o.Observe {
			r = Reply{Stderr: []byte(a.reason() + "\n"), Exit: exitBlock}
		}
	}()
	return h.answer(h, e, a)
}

// decide asks the gate.
func (h *Host) decide(ctx context.Context, o Options, e *Event) Answer {
	if e.Kind == Other {
		return Answer{Action: Silent}
	}
	b, err := o.Open(ctx, e)
	if err != nil || b == nil || b.Gate == nil {
		o.say("the gate cannot decide: %v", err)
		code := stopgate.CodeConfigInvalid
		var coded interface{ Code() stopgate.Code }
		if errors.As(err, &coded) {
			code = coded.Code()
		}
		o.unrecorded(e, code)
		return failure(code)
	}
	b.Allow = b.Allow || o.Allow
	switch e.Kind {
	case Prompt:
		return h.spoke(ctx, o, b, e)
	case After:
		return h.observe(ctx, o, b, e)
	}
	return h.once(ctx, o, b, e, func() Answer { return h.gate(ctx, o, b, e) })
}

// spoke tells the gate that the user said something (DECISIONS S27, S28).
func (h *Host) spoke(ctx context.Context, o Options, b *Backend, e *Event) Answer {
	if e.Call.Session != "" {
		if err := b.Gate.Spoke(ctx, session.Owner{Principal: e.Call.Principal, Session: e.Call.Session}); err != nil {
			o.say("the session cannot be written: %v", err)
		}
	}
	return Answer{Action: Silent}
}

// gate decides a call.
func (h *Host) gate(ctx context.Context, o Options, b *Backend, e *Event) Answer {
	call := e.Call
	call.Args = nil
	if !e.row.CompareAndSwap(false, true) {
		return failure(stopgate.CodePolicyTimeout) // denied and recorded, while the gate was made
	}
	p, err := b.Gate.Open(ctx, call)
	if err != nil {
		o.say("%v", err)
		return failure(stopgate.CodePolicyError)
	}
	defer p.Cancel(ctx)
	p.Feed(e.Call.Args)
	v := p.Close(stopgate.Ended)
	if b.Approver != nil {
		b.Approver.harmless = e.passes(v)
	}
	out, err := p.Resolve(ctx)
	switch {
	case !p.Enforced() && (err == nil || out.Allowed()):
		return Answer{Action: Silent}
	case !out.Allowed():
		if h := b.Gate.Health(); h.LostRows > 0 || h.Spooled && h.LostBecause != nil {
			o.say("the decision cannot be recorded: %v", h.LostBecause)
		}
		return refused(out)
	case err != nil:
		o.say("%v", err)
		return failure(stopgate.CodePolicyError)
	}
	return h.release(b, e, out)
}

func refused(out stopgate.Outcome) Answer {
	v := out.Envelope()
	a := Answer{Code: v.Code, Public: v.PublicReason, Stop: v.Code == stopgate.CodeDenialLimit}
	if v.Code == stopgate.CodeApprovalPending {
		a.Public += " The user answers in a terminal: stopgate approvals watch"
	}
	return a
}

// release lets an allowed call go, as far as the host can run exactly what was judged.
func (h *Host) release(b *Backend, e *Event, out stopgate.Outcome) Answer {
	a := Answer{Code: out.Verdict.Code, Public: out.Verdict.Public, Action: Silent}
	if b.Allow {
		a.Action = Allow
	}
	switch {
	case out.Approval == nil, b.Approver != nil && b.Approver.harmless:
	case out.Approval.Referred:
		a.Action, a.Public = Ask, asking(&out.Verdict)
	default:
		a.Action = Allow // somebody said yes: the host need not ask again
	}
	return h.giving(e, a, out.Args)
}

// giving is an answer that lets the call go with these arguments.
func (h *Host) giving(e *Event, a Answer, args []byte) Answer {
	args, err := e.theirs(args)
	if err != nil {
		return failure(stopgate.CodePolicyError)
	}
	same, fits := h.compare(e, args)
	switch {
	case same:
		return a
	case !fits:
		return Answer{Code: stopgate.CodeEnvelopeMismatch, Public: "The arguments that may run differ from those that were sent, and this agent cannot change them. Write paths in their plain form."}
	}
	a.Input = args
	if a.Action == Silent {
		// New input comes with a decision. Asking takes no prompt away (DECISIONS S32).
		a.Action = Ask
		if !h.Asks {
			a.Action = Allow
		}
	}
	return a
}

// asking is what the host's user reads above a question. The host shows the call itself;
// where the rule has no reason, the user reads which rule it is.
func asking(v *stopgate.Verdict) string {
	switch {
	case v.Code != stopgate.CodeRuleMatched || v.Public != v.Code.Public():
		return v.Public
	case v.Rule == nil:
		return "The policy asks before this call runs."
	}
	return fmt.Sprintf("The policy asks before this call runs (rule at %s:%d).", visible.Text(filepath.Base(v.Rule.File)), v.Rule.Line)
}

// compare says whether the arguments that may run mean what the host sent, and if not,
// whether the host can run them (DECISIONS S32).
func (h *Host) compare(e *Event, args []byte) (same, fits bool) {
	var sent, runs jsonstream.Document
	options := jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent}
	if runs.Scan(args, options) != nil {
		return false, false
	}
	if sent.Scan(e.sent(), options) != nil {
		return runs.Root().Len() == 0 && len(bytes.TrimSpace(e.sent())) == 0, false
	}
	if jsonstream.HashCanonical(sent.Root()) == jsonstream.HashCanonical(runs.Root()) {
		return true, true
	}
	if h.Rewrite == Fixed || e.Extra {
		return false, false
	}
	if h.Rewrite == Merge {
		for key := range sent.Root().Members() {
			if _, kept := runs.Root().Get(key.Text()); !kept {
				return false, false
			}
		}
	}
	return false, true
}

// observe tells the gate how a call ended, and keeps back what a rule withholds.
func (h *Host) observe(ctx context.Context, o Options, b *Backend, e *Event) Answer {
	if !b.Results {
		return Answer{Action: Silent}
	}
	var args jsonstream.Document
	if args.Scan(e.Call.Args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent}) != nil {
		return withheld()
	}
	hash := jsonstream.HashCanonical(args.Root())
	d, err := b.Gate.Observe(ctx, stopgate.Result{
		Call: e.Call.ID, Session: e.Call.Session, Principal: e.Call.Principal, Tool: e.Call.Tool,
		ArgsHash: fmt.Sprintf("%x", hash), Failed: e.Failed, Data: e.Result, Observed: true, Flagged: true,
	})
	switch {
	case errors.Is(err, gate.ErrUnmatched) && !b.Gate.Enforced(), d.Delivered():
		return Answer{Action: Silent}
	case errors.Is(err, gate.ErrUnmatched) && h.gaveAway(b, e):
		return Answer{Action: Silent} // the hook that decided hears of the result too
	case err != nil:
		o.say("the result cannot be recorded: %v", err)
	}
	a := withheld()
	a.Code, a.Output = d.Code, d.Data
	return a
}

func withheld() Answer { return failure(stopgate.CodeResultWithheld) }
