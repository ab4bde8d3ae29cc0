package gate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// Approver shows a call to a person who can answer: in a terminal, a queue or a web page.
// Without one, ask and edit deny no_approver.
type Approver interface {
	// Abilities returns the current abilities of the approver for this call.
	Abilities(ctx context.Context, call *stopgate.Call) Abilities
	// Approve blocks until the question is answered or ctx ends: then the question is
	// withdrawn, for the reason context.Cause(ctx). The question may be
	// opened while the arguments still arrive; see [Question]. An answer is made
	// with a method of the [View] that was shown.
	Approve(ctx context.Context, q *Question) (Answer, error)
}

// Abilities describe an approver. The zero value is an approver that cannot answer.
type Abilities struct {
	Reachable bool // a person can answer now
	CanEdit   bool // and can change the arguments (K31)
	// Keeps reports that the approver keeps a question that was not answered in time
	// and accepts the answer later, for the identical call (S5): the call
	// is then denied approval_pending instead of approval_timeout or no_approver.
	Keeps bool
	// Immediate reports that the approver answers at once without a person, so that
	// the question is not shown before the call has its outcome, as with a host's own
	// prompt ([View.Refer]). The rows about the question are then written
	// with the call's own, in one step where the store can; those of every other
	// question are durable before it is shown.
	Immediate bool
}

// Binding identifies the call that an approval is for (I16). An approval whose binding is
// not that of the call at the final check is approval_stale.
type Binding struct {
	Args       string             `json:"args"` // SHA-256 in hex of the canonical arguments
	Tool       stopgate.ToolName  `json:"tool"`
	Definition string             `json:"definition,omitempty"` // hash of the tool definition
	Policy     string             `json:"policy"`               // hash of the policy
	Session    stopgate.SessionID `json:"session,omitempty"`
	Principal  stopgate.Principal `json:"principal,omitempty"`
	// Agent made the call, and Server has the tool: the same call of another agent or at
	// another server needs its own approval.
	Agent  stopgate.AgentName `json:"agent,omitempty"`
	Server stopgate.ServerID  `json:"server,omitempty"`
	// Result is the SHA-256 in hex of the result that is asked about, "" for a call.
	Result string `json:"result,omitempty"`
	// Objections is the SHA-256 in hex of the objections of session policies that ask, ""
	// for none: an approval allows only the objections that were shown.
	Objections string `json:"objections,omitempty"`
}

// Hash is the binding as one SHA-256 in hex, for stores of approvals: equal
// exactly when the bindings are.
func (b Binding) Hash() string {
	h := sha256.New()
	var size [8]byte
	fields := []string{b.Args, string(b.Tool), b.Definition, b.Policy, string(b.Session), string(b.Principal), string(b.Agent), string(b.Server), b.Result}
	if b.Objections != "" {
		fields = append(fields, b.Objections)
	}
	for _, field := range fields {
		binary.BigEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write([]byte(field))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// View is one state of a question, as an approver shows it.
type View struct {
	Proposal stopgate.ProposalID
	Parent   stopgate.ProposalID
	Call     stopgate.Call // Args is empty, see below
	// KnownServer is the name under which lists of known tools have the call's server, where the
	// policy of an operator says that it is another one ([servers]); "" otherwise.
	KnownServer stopgate.ServerID
	// Verdict is the ask or edit, with the rule and the pointer that caused it.
	Verdict stopgate.Verdict
	// Args are the bytes that will run, "" until Complete.
	Args     string
	Complete bool
	Received int64 // argument bytes received so far
	// Result is the result of the call, where the question is whether the model receives
	// it (OfResult). An edit then replaces the result's bytes; they need not be JSON.
	Result   string
	OfResult bool
	// To is the receiving agent where the question is about a handoff.
	To stopgate.AgentName
	// Binding is zero until the arguments are complete.
	Binding Binding
	// Leaves are the values of the arguments, which grants match (S34); nil until
	// Complete.
	Leaves []Leaf
	// Asking names all rules that ask about the call, and the codes of lists that ask
	// without a rule; the verdict names only the first. nil until Complete.
	Asking []string
	// Missing lists the objections of session policies that ask, such as "src/a.go was not read
	// in this session"; nil until Complete. No grant satisfies them.
	Missing []string
	// Origins are where the values come from that conditions on origins evaluated so far.
	Origins []stopgate.Origin
	// Until is when the call stops waiting and is denied; Expires, when an answer is
	// refused, wherever it is kept (S5).
	Until, Expires time.Time
}

// Leaf is a value of the arguments that holds no other.
type Leaf struct {
	Pointer string `json:"pointer"` // RFC 6901
	// Type is path, command, url, patch or argv; "" for every other value.
	Type string `json:"type,omitempty"`
	// Known reports whether the tool's schema describes the value. Without a Type it is
	// then no path, command or URL.
	Known bool   `json:"known,omitempty"`
	JSON  string `json:"json"` // the value as canonical JSON text
}

// AnswerKind is the kind of an answer. The zero value is no answer and denies.
type AnswerKind uint8

// The answers.
const (
	Unanswered AnswerKind = iota
	Declined              // no
	Deferred              // not now: the call is denied approval_pending, the answer may come later (S5)
	Approved              // yes, exactly this
	Edited                // yes, with Answer.Args instead
)

// Answer is the end of a question. Make it with a method of the View that was
// shown; a stored answer is given again by the view of the identical call.
type Answer struct {
	Kind AnswerKind
	// ID names the approval in records. It is used once: a second call that comes
	// with it is approval_stale. "" takes the proposal's id.
	ID string
	By string // who answered; Approved and Edited without a name are invalid
	// Via is the channel of the answer: one of package approve, "host" for a referred
	// answer, or a name of the approver's own; "" if it is unknown.
	Via string
	// Public is the sentence for the model with Declined; "" takes the sentence of the
	// code.
	Public string
	// Args are the edited arguments of Edited: JSON text, judged like any other.
	Args []byte
	// Binding is the Binding of the view that was answered.
	Binding Binding
	// Unseen reports that the view was not complete: an approval then includes the
	// arguments that follow. The question is asked again if a floor appears after Seen,
	// the View's Received (H2, K17).
	Unseen bool
	Seen   int64
	// GiveBack makes the answer usable again. The gate calls it once if an approved call is
	// not released: an approval is used up by a call, never by a failure. nil for an answer
	// that is not kept.
	GiveBack func(ctx context.Context)
	// Referred reports that Approved only leaves the question to a host: see [View.Refer].
	Referred bool
}

// Approve answers yes to the call that the view shows, and, while it is not complete, to the
// arguments that follow.
func (v View) Approve(by string) Answer { return v.answer(Approved, by) }

// Refer leaves the question to the prompt of the program that runs the tool, as a
// hook's host has one: the call may go on to that prompt, and the gate does not learn its
// answer. It satisfies the ask but no policy that requires an approval (S44, TPS-39). Only a
// surface that can make the host ask may use it.
func (v View) Refer(to string) Answer {
	a := v.answer(Approved, to)
	a.Referred, a.Via = true, "host"
	return a
}

// Decline answers no.
func (v View) Decline(by string) Answer { return v.answer(Declined, by) }

// Defer leaves the question open under the approver's own id; this call is denied.
func (v View) Defer(id string) Answer {
	a := v.answer(Deferred, "")
	a.ID = id
	return a
}

// Edit answers yes with other arguments. They become a new proposal, which goes through every
// layer (X12).
func (v View) Edit(by string, args []byte) Answer {
	a := v.answer(Edited, by)
	a.Args = args
	return a
}

func (v View) answer(kind AnswerKind, by string) Answer {
	return Answer{Kind: kind, By: by, Binding: v.Binding, Unseen: !v.Complete, Seen: v.Received}
}

// Question is a call that waits for an answer. It may change while it is shown:
// arguments that were still arriving become complete, or a floor raises the
// verdict.
type Question struct {
	mu      sync.Mutex
	view    View
	changed chan struct{}
}

func newQuestion(v View) *Question {
	return &Question{view: v, changed: make(chan struct{})}
}

// View returns the current state of the question, and a channel that is closed when the
// state changes.
func (q *Question) View() (v View, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.view, q.changed
}

// Complete waits until the arguments are complete, for an approver that only shows complete
// calls.
func (q *Question) Complete(ctx context.Context) (View, error) {
	for {
		v, changed := q.View()
		if v.Complete {
			return v, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return v, context.Cause(ctx)
		}
	}
}

func (q *Question) shown() View {
	v, _ := q.View()
	return v
}

func (q *Question) update(v View) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.view = v
	close(q.changed)
	q.changed = make(chan struct{})
}
