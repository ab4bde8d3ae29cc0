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

// Approver puts a call in front of somebody who can answer: a terminal, a queue,
// a web page. Without one, ask and edit deny no_approver.
type Approver interface {
	// Abilities says what the approver can do for this call now.
	Abilities(ctx context.Context, call *stopgate.Call) Abilities
	// Approve blocks until somebody answered the question, or ctx ended: then the
	// question is withdrawn and context.Cause(ctx) says why. The question may be
	// opened while the arguments still arrive; see [Question]. An answer is made
	// with a method of the [View] that was shown.
	Approve(ctx context.Context, q *Question) (Answer, error)
}

// Abilities is what an approver can do. The zero value is nobody.
type Abilities struct {
	Reachable bool // somebody can answer now
	CanEdit   bool // and can change the arguments (K31)
	// Keeps says that the approver keeps a question that nobody answered in time
	// and takes the answer later, for the identical call (S5): the call
	// is then denied approval_pending instead of approval_timeout or no_approver.
	Keeps bool
	// Immediate says that the approver answers by itself and at once, and that nobody
	// sees the question before the call has its outcome, as where it is left to a
	// host's own prompt ([View.Refer]). The rows about the question are then written
	// with the call's own, in one step where the store can; those of every other
	// question are durable before anybody is asked.
	Immediate bool
}

// Binding is everything that an approval belongs to (I16). An approval
// with another binding than the call's own at the final check is approval_stale.
type Binding struct {
	Args       string             `json:"args"` // SHA-256 in hex of the canonical arguments
	Tool       stopgate.ToolName  `json:"tool"`
	Definition string             `json:"definition,omitempty"` // hash of the tool definition
	Policy     string             `json:"policy"`               // hash of the policy
	Session    stopgate.SessionID `json:"session,omitempty"`
	Principal  stopgate.Principal `json:"principal,omitempty"`
	// Agent asked, and Server has the tool: the same call of another agent, or at another
	// server, is another one.
	Agent  stopgate.AgentName `json:"agent,omitempty"`
	Server stopgate.ServerID  `json:"server,omitempty"`
	// Result is the SHA-256 in hex of the result that is asked about, "" for a call.
	Result string `json:"result,omitempty"`
}

// Hash is the binding as one SHA-256 in hex, for stores of approvals: equal
// exactly when the bindings are.
func (b Binding) Hash() string {
	h := sha256.New()
	var size [8]byte
	for _, field := range []string{b.Args, string(b.Tool), b.Definition, b.Policy, string(b.Session), string(b.Principal), string(b.Agent), string(b.Server), b.Result} {
		binary.BigEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write([]byte(field))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// View is what an approver shows: one state of a question.
type View struct {
	Proposal stopgate.ProposalID
	Parent   stopgate.ProposalID
	Call     stopgate.Call // Args is empty, see below
	// Verdict is the ask or edit, with the rule and the pointer that caused it.
	Verdict stopgate.Verdict
	// Args are the bytes that will run, "" until Complete.
	Args     string
	Complete bool
	Received int64 // argument bytes received so far
	// Result is what came back, where the question is whether the model gets it
	// (OfResult). An edit then replaces the result's bytes; they need not be JSON.
	Result   string
	OfResult bool
	// To is the receiving agent where the question is about a handoff.
	To stopgate.AgentName
	// Binding is zero until the arguments are complete.
	Binding Binding
	// Leaves are what the arguments consist of, nil until Complete: what a grant
	// looks at (S34).
	Leaves []Leaf
	// Asking names all rules that want the call to be seen, and the codes of lists that
	// ask without one; the verdict names only the first. nil until Complete.
	Asking []string
	// Until is when the call stops waiting and is denied; Expires, when an answer is
	// refused, wherever it is kept (S5).
	Until, Expires time.Time
}

// Leaf is a value of the arguments that holds no other.
type Leaf struct {
	Pointer string `json:"pointer"` // RFC 6901
	// Type is path, command, url, patch or argv; "" for every other value.
	Type string `json:"type,omitempty"`
	// Known says that the tool's schema describes the value: without a Type it is then
	// no path, command or URL.
	Known bool   `json:"known,omitempty"`
	JSON  string `json:"json"` // the value as canonical JSON text
}

// AnswerKind is what somebody answered. The zero value is no answer and denies.
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
	By string // who answered; a yes and an edit of nobody are no answer
	// Via is how the answer came: a channel of package approve, "host" where it was
	// referred, or a word of the approver's own; "" if it does not say.
	Via string
	// Public is what the model is told of Declined; "" takes the code's own sentence.
	Public string
	// Args are the edited arguments of Edited: JSON text, judged like any other.
	Args []byte
	// Binding is the Binding of the view that was answered.
	Binding Binding
	// Unseen says that the view was not complete: an approval then means "and
	// whatever follows". It is asked again if a floor appears behind Seen, the
	// View's Received (H2, K17).
	Unseen bool
	Seen   int64
	// GiveBack takes back that the answer was used. The gate calls it once where a call that
	// was approved does not leave after all: a yes is spent on a call, never on a failure.
	// nil for an answer that is not kept.
	GiveBack func(ctx context.Context)
	// Referred says of Approved that nobody said yes here: see [View.Refer].
	Referred bool
}

// Approve answers yes to exactly what the view shows, or, while it is not
// complete, to it and whatever follows.
func (v View) Approve(by string) Answer { return v.answer(Approved, by) }

// Refer leaves the question to the prompt of the program that runs the tool, as a
// hook's host has one: the call may go on to that prompt, and what is answered there
// nobody hears. It satisfies the ask and no policy that waits for an approval
// (S44, TPS-39). Only a surface that can make the host ask may use it.
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

// Edit answers yes with other arguments. They are a new proposal and go through
// every layer (X12).
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

// View returns the question as it stands, and a channel that is closed when there
// is something new to show.
func (q *Question) View() (v View, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.view, q.changed
}

// Complete waits until the arguments are complete, for an approver that does not
// show half a call.
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
