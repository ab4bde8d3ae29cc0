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
	"github.com/stopgate/stopgate/internal/hook/once"
	"github.com/stopgate/stopgate/internal/system/stack"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// DefaultDeadline is the deadline for an event if the host's timeout is unknown (S47).
// Timeouts of hosts are 30 s and more.
const DefaultDeadline = 24 * time.Second

// Options configure [Host.Run].
type Options struct {
	// Open returns the backend for an event. It is called once, after the event was read.
	Open func(ctx context.Context, e *Event) (*Backend, error)
	// ObserveOnly makes every decision Abstain (S31).
	ObserveOnly bool
	// Allow replies "allow" for calls with mode unattended, which suppresses the host's own
	// prompt. Otherwise the hook abstains (S32).
	Allow bool
	// Deadline limits the whole run, 0 for DefaultDeadline.
	Deadline time.Duration
	// RecordDenial is called for a call that is denied without a gate, so that it is
	// recorded. It may be nil.
	RecordDenial func(e *Event, code stopgate.Code)
	// Left reports whether the process that delegated the event has left. It decides itself then:
	// a call that is not being decided yet is left to it, so that it has one row. nil for an event
	// of this process.
	Left func() bool
	// Delegation identifies an event that was delegated to a process and is now decided by two; ""
	// for others. Calls without an id have it as theirs.
	Delegation string
	// Log receives one line per failure, for people. It may be nil.
	Log io.Writer
}

// Backend evaluates one event.
type Backend struct {
	Gate *gate.Gate
	// Allow is Options.Allow as set in the policy file.
	Allow bool
	// ObservesResults reports whether results are recorded or evaluated.
	ObservesResults bool
	// SessionPolicies reports whether the policy has session policies.
	SessionPolicies bool
	// Approver requests approvals if the host cannot; it may be nil. It must also be the
	// approver of the gate.
	Approver *Approver
	// Once makes several hooks share one decision about a call; nil if each decides alone.
	Once *once.Registry
	// OnWait is called if another hook is deciding about the call. It may be nil.
	OnWait func()
}

// Run reads one event and returns the reply. It returns by the deadline, even if the
// backend blocks.
func (h *Host) Run(ctx context.Context, o Options, input io.Reader) Reply {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, o.Deadline)
	defer cancel()
	type result struct {
		event  *Event
		answer Decision
	}
	read, done := make(chan *Event, 1), make(chan result, 1)
	go func() {
		stack.Grow()
		e, a := new(Event), failureDecision(stopgate.CodePolicyError)
		defer func() {
			if p := recover(); p != nil {
				o.logf("panic: %v", p)
				a = failureDecision(stopgate.CodePolicyError)
			}
			done <- result{e, a}
		}()
		text, err := io.ReadAll(io.LimitReader(input, MaxInput+1))
		if err == nil {
			e, err = h.Read(text)
		}
		if err != nil {
			o.logf("reading the event of %s failed: %v", h.Title, err)
			a = failureDecision(stopgate.CodeProtocolViolation)
			return
		}
		read <- e
		// The gate's deadline is earlier, so that it can write its record before the reply.
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
			o.logf("no decision within the deadline of %v", o.Deadline)
			o.recordDenial(e, stopgate.CodePolicyTimeout)
			return h.reply(o, e, failureDecision(stopgate.CodePolicyTimeout))
		}
	}
}

// recordDenial records a call that is denied without a gate. An open gate records the call
// itself, also after a timeout.
func (o Options) recordDenial(e *Event, code stopgate.Code) {
	if o.RecordDenial != nil && !o.left() && e.Kind == Before && !o.ObserveOnly && e.recorded.CompareAndSwap(false, true) {
		o.RecordDenial(e, code)
	}
}

// left reports whether another process decides.
func (o Options) left() bool { return o.Left != nil && o.Left() }

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, "stopgate: "+format+"\n", args...)
	}
}

// reply formats the decision for the host. If formatting panics, it blocks.
func (h *Host) reply(o Options, e *Event, a Decision) (r Reply) {
	if o.ObserveOnly {
		a = Decision{Action: Abstain}
	}
	if e.Kind == Prompt && a.Action == Block {
		a = Decision{Action: Abstain} // prompts are never blocked; the session stays stricter
	}
	defer func() {
		if p := recover(); p != nil && !o.ObserveOnly {
			r = Reply{Stderr: []byte(a.reason() + "\n"), Exit: exitBlock}
		}
	}()
	return h.format(h, e, a)
}

// decide evaluates an event.
func (h *Host) decide(ctx context.Context, o Options, e *Event) Decision {
	if e.Kind == Other {
		return Decision{Action: Abstain}
	}
	b, err := o.Open(ctx, e)
	if err != nil || b == nil || b.Gate == nil {
		o.logf("opening the gate failed: %v", err)
		code := stopgate.CodeConfigInvalid
		var coded interface{ Code() stopgate.Code }
		if errors.As(err, &coded) {
			code = coded.Code()
		}
		o.recordDenial(e, code)
		return failureDecision(code)
	}
	b.Allow = b.Allow || o.Allow
	switch e.Kind {
	case Prompt:
		return h.userPrompt(ctx, o, b, e)
	case After:
		return h.observe(ctx, o, b, e)
	}
	return h.decideOnce(ctx, o, b, e, func() Decision { return h.decideCall(ctx, o, b, e) })
}

// userPrompt tells the gate that the user sent a prompt (S27, S28).
func (h *Host) userPrompt(ctx context.Context, o Options, b *Backend, e *Event) Decision {
	if e.Call.Session == "" {
		return Decision{Action: Abstain}
	}
	owner := session.Owner{Principal: e.Call.Principal, Session: e.Call.Session}
	if err := b.Gate.Spoke(ctx, owner); err != nil {
		o.logf("writing the session failed: %v", err)
	}
	if b.Gate.ReadsTexts() {
		if err := b.Gate.AddTexts(ctx, owner, "", h.promptTexts(e)); err != nil {
			o.logf("adding the prompt to the texts of the session failed: %v", err)
			if errors.Is(err, gate.ErrTextsUnsaved) {
				o.loseTexts(ctx, b, e)
			}
		}
	}
	return Decision{Action: Abstain}
}

// decideCall evaluates a call.
func (h *Host) decideCall(ctx context.Context, o Options, b *Backend, e *Event) Decision {
	call := e.Call
	call.Args = nil
	if !e.recorded.CompareAndSwap(false, true) {
		return failureDecision(stopgate.CodePolicyTimeout) // it was denied and recorded while the backend was opened
	}
	p, err := b.Gate.Open(ctx, call)
	if err != nil {
		o.logf("%v", err)
		return failureDecision(stopgate.CodePolicyError)
	}
	defer p.Cancel(ctx)
	p.Feed(e.Call.Args)
	v := p.Close(stopgate.Ended)
	if b.Approver != nil {
		b.Approver.harmless, b.Approver.objects = e.isHarmlessUnknown(v), b.SessionPolicies
	}
	out, err := p.Resolve(ctx)
	switch {
	case !p.Enforced() && (err == nil || out.Allowed()):
		return Decision{Action: Abstain}
	case !out.Allowed():
		if h := b.Gate.Health(); h.LostRows > 0 || h.Spooled && h.LostBecause != nil {
			o.logf("recording the decision failed: %v", h.LostBecause)
		}
		return deniedDecision(out)
	case err != nil:
		o.logf("%v", err)
		return failureDecision(stopgate.CodePolicyError)
	}
	return h.release(b, e, out)
}

func deniedDecision(out stopgate.Outcome) Decision {
	v := out.Envelope()
	a := Decision{Code: v.Code, Public: v.PublicReason, Stop: v.Code == stopgate.CodeDenialLimit}
	if v.Code == stopgate.CodeApprovalPending {
		a.Public += " The user answers in a terminal: stopgate approvals watch"
	}
	return a
}

// release returns the decision for an allowed call.
func (h *Host) release(b *Backend, e *Event, out stopgate.Outcome) Decision {
	a := Decision{Code: out.Verdict.Code, Public: out.Verdict.Public, Action: Abstain}
	if b.Allow {
		a.Action = Allow
	}
	switch {
	case out.Approval == nil, b.Approver != nil && b.Approver.harmless:
	case out.Approval.Referred:
		a.Action, a.Public = Ask, askReason(&out.Verdict)
		for _, missing := range b.Approver.missing {
			a.Public += " " + visible.Text(missing) + "."
		}
	default:
		a.Action = Allow // an approver has approved: the host need not ask again
	}
	return h.withArgs(e, a, out.Args)
}

// withArgs returns a if the host can run the call with args, a denial otherwise.
func (h *Host) withArgs(e *Event, a Decision, args []byte) Decision {
	args, err := e.removeAdded(args)
	if err != nil {
		return failureDecision(stopgate.CodePolicyError)
	}
	same, fits := h.compare(e, args)
	switch {
	case same:
		return a
	case !fits:
		return Decision{Code: stopgate.CodeEnvelopeMismatch, Public: "The arguments that may run differ from those that were sent, and this agent cannot change them. Write paths in their plain form."}
	}
	a.Input = args
	if a.Action == Abstain {
		// New input requires a decision. Ask keeps the host's prompt (S32).
		a.Action = Ask
		if !h.CanAsk {
			a.Action = Allow
		}
	}
	return a
}

// askReason returns the reason that the host's user reads in a prompt. If the rule has no
// reason, it names the rule.
func askReason(v *stopgate.Verdict) string {
	switch {
	case v.Code != stopgate.CodeRuleMatched || v.Public != v.Code.Public():
		return v.Public
	case v.Rule == nil:
		return "The policy asks before this call runs."
	}
	return fmt.Sprintf("The policy asks before this call runs (rule at %s:%d).", visible.Text(filepath.Base(v.Rule.File)), v.Rule.Line)
}

// compare reports whether args are equal to the arguments that the host sent, and if not,
// whether the host can run them (S32).
func (h *Host) compare(e *Event, args []byte) (same, fits bool) {
	var sent, runs jsonstream.Document
	options := jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent}
	if runs.Scan(args, options) != nil {
		return false, false
	}
	if sent.Scan(e.sentArgs(), options) != nil {
		return runs.Root().Len() == 0 && len(bytes.TrimSpace(e.sentArgs())) == 0, false
	}
	if jsonstream.HashCanonical(sent.Root()) == jsonstream.HashCanonical(runs.Root()) {
		return true, true
	}
	if h.Rewrite == NoRewrite || e.PatchFiles {
		return false, false
	}
	if h.Rewrite == MergeArgs {
		for key := range sent.Root().Members() {
			if _, kept := runs.Root().Get(key.Text()); !kept {
				return false, false
			}
		}
	}
	return false, true
}

// observe records the result of a call and withholds it if a rule requires it.
func (h *Host) observe(ctx context.Context, o Options, b *Backend, e *Event) Decision {
	if !b.ObservesResults {
		return Decision{Action: Abstain}
	}
	var args jsonstream.Document
	if args.Scan(e.Call.Args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent}) != nil {
		return withheld()
	}
	hash := jsonstream.HashCanonical(args.Root())
	d, err := b.Gate.Observe(ctx, stopgate.Result{
		Call: e.Call.ID, Session: e.Call.Session, Principal: e.Call.Principal, Tool: e.Call.Tool,
		ArgsHash: fmt.Sprintf("%x", hash), Args: e.Call.Args, Failed: e.Failed, Data: e.Result, Observed: true, Flagged: true,
		Opaque: b.Gate.ReadsTexts() && isMedia(e.Result),
	})
	if errors.Is(err, gate.ErrTextsUnsaved) {
		o.logf("storing the text of the result failed: %v", err)
		if h.WithholdsResults && !e.Failed && b.Gate.Enforced() {
			return withheld()
		}
		o.loseTexts(ctx, b, e)
	}
	switch {
	case errors.Is(err, gate.ErrUnmatched) && !b.Gate.Enforced(), d.Delivered():
		return Decision{Action: Abstain}
	case errors.Is(err, gate.ErrUnmatched) && h.decidedElsewhere(b, e):
		return Decision{Action: Abstain} // the hook that decided also receives the result
	case err != nil:
		o.logf("recording the result failed: %v", err)
	}
	a := withheld()
	a.Code, a.Output = d.Code, d.Data
	return a
}

// loseTexts marks the texts of the session as missing, after one that the model reads could not be
// stored.
func (o Options) loseTexts(ctx context.Context, b *Backend, e *Event) {
	if err := b.Gate.LoseTexts(ctx, session.Owner{Principal: e.Call.Principal, Session: e.Call.Session}, ""); err != nil {
		o.logf("later conditions on where values come from may lack that text: %v", err)
	}
}

func withheld() Decision { return failureDecision(stopgate.CodeResultWithheld) }
