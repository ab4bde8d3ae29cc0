package decide

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
)

// maxWait limits the time for which a request can wait for approval.
const maxWait = 10 * time.Minute

// submission is a call that was submitted, pending or decided.
type submission struct {
	owner stopgate.Principal
	call  stopgate.Call
	// program reports that the program that proposed the call answers questions about it.
	program bool
	sum     [sha256.Size]byte // hash of the whole request
	bytes   int64

	decided  chan struct{} // closed when decision is final
	mu       sync.Mutex
	decision decisionJSON
}

func (p *submission) now() decisionJSON {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.decision
}

func (p *submission) set(a decisionJSON) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decision = a
}

// calls indexes submissions by id and by idempotency key, so that clients can look them up and no
// call is decided twice. It evicts the oldest.
type calls struct {
	mu    sync.Mutex
	byID  map[stopgate.ProposalID]*submission
	byKey map[string]*submission
	order []indexEntry
	bytes int64 // size of all their arguments
}

type indexEntry struct {
	id    stopgate.ProposalID
	key   string
	bytes int64
}

// maxCalls and maxBytes limit the submissions that can be looked up and the size of their
// arguments. The newest submission is always available.
const (
	maxCalls = 10_000
	maxBytes = 256 << 20
)

func newCalls() calls {
	return calls{byID: map[stopgate.ProposalID]*submission{}, byKey: map[string]*submission{}}
}

// claim returns the existing submission of a key, or registers a new one.
func (c *calls) claim(key string, fresh *submission) (p *submission, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byKey[key]; key != "" && old != nil {
		return old, false
	}
	if key != "" {
		c.byKey[key] = fresh
		c.order = append(c.order, indexEntry{key: key})
		c.evict()
	}
	return fresh, true
}

// index makes a submission available by its id.
func (c *calls) index(id stopgate.ProposalID, p *submission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[id] = p
	c.order = append(c.order, indexEntry{id: id, bytes: p.bytes})
	c.bytes += p.bytes
	c.evict()
}

// evict removes the oldest submissions. c.mu must be locked.
func (c *calls) evict() {
	for len(c.order) > 2*maxCalls || c.bytes > maxBytes && len(c.order) > 2 {
		c.bytes -= c.order[0].bytes
		delete(c.byID, c.order[0].id)
		delete(c.byKey, c.order[0].key)
		c.order = c.order[1:]
	}
}

func (c *calls) find(id stopgate.ProposalID, who caller) *submission {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.byID[id]; p != nil && p.owner == who.name {
		return p
	}
	return nil
}

// callRoutes serves calls, their results and handoffs.
type callRoutes struct {
	gate  *gate.Gate
	queue *approve.Queue // may be nil
	keys  *sessionKeys
	calls calls
	// life is canceled when the server closes. Waiting calls then end as after a timeout; questions
	// that an approver stores can still be answered for the call that is submitted again.
	life context.Context
	work sync.WaitGroup // calls that wait for approval
	// waiting is their number.
	waiting atomic.Int64
}

func (s *callRoutes) add(route addRoute) {
	route("POST /v1/calls", Decide, s.propose)
	route("POST /v1/calls/stream", Decide, s.stream)
	route("GET /v1/calls/{id}", Decide, s.status)
	route("POST /v1/calls/{id}/result", Decide, s.result)
	route("POST /v1/handoffs", Decide, s.handoff)
}

// propose handles POST /v1/calls: it evaluates a call with complete arguments through all layers.
func (s *callRoutes) propose(w http.ResponseWriter, r *http.Request, who caller) *problem {
	want, bad := preferencesOf(r)
	if bad != nil {
		return bad
	}
	call, args, _, bad := wholeCall(w, r, who)
	if bad != nil {
		return bad
	}
	program, bad := s.keys.approver(r, who, call.Session)
	if bad != nil {
		return bad
	}
	fresh := &submission{owner: who.name, call: call, program: program, sum: digest(&call, args), bytes: int64(len(args)), decided: make(chan struct{})}
	key := idempotencyKey(r, &call)
	if len(r.Header.Get("Idempotency-Key")) > maxName {
		return badRequest("too_long", "an Idempotency-Key may have "+strconv.Itoa(maxName)+" bytes")
	}
	p, mine := s.calls.claim(key, fresh)
	if !mine {
		if p.sum != fresh.sum {
			return &problem{Status: http.StatusConflict, Code: "idempotency_conflict", Detail: "another call was proposed under this key"}
		}
		return s.await(w, r, p, want, program)
	}
	ctx := r.Context()
	if key != "" { // a client that lost its connection repeats the request and gets the decision of this call
		ctx = context.WithoutCancel(ctx)
	}
	open, err := s.gate.Open(ctx, call)
	if err != nil {
		s.fail(p, err)
		return unavailable("the gate")
	}
	if program {
		s.keys.own.Store(open.ID(), true)
	}
	open.Feed(args)
	open.Close(stopgate.Ended)
	s.run(ctx, p, open)
	return s.await(w, r, p, want, program)
}

// run resolves a closed call. A call that needs approval continues without the request; any other
// call is resolved before run returns.
func (s *callRoutes) run(ctx context.Context, p *submission, open *gate.Pending) {
	s.calls.index(open.ID(), p)
	p.set(decisionJSON{
		ID: open.ID(), Tool: p.call.Tool, Session: p.call.Session, Status: pending, verdictJSON: verdictOf(open.Verdict()),
		Bytes: p.bytes, Enforced: open.Enforced(),
	})
	if v := open.Verdict(); v.Terminal() || v.Mode.Permissive() || !open.Enforced() {
		s.finish(ctx, p, open)
		return
	}
	s.waiting.Add(1)
	s.work.Go(func() {
		defer s.waiting.Add(-1)
		s.finish(s.asking(p), p, open)
	})
}

// finish resolves one call and stores its decision.
func (s *callRoutes) finish(ctx context.Context, p *submission, open *gate.Pending) {
	defer s.keys.own.Delete(open.ID())
	out, err := open.Resolve(ctx)
	if err != nil && out.Proposal == "" {
		s.fail(p, err)
		return
	}
	if out.Proposal != open.ID() { // an edited call has a new id; its result arrives under that id
		s.calls.index(out.Proposal, p)
	}
	p.set(decisionOf(&p.call, p.bytes, out))
	close(p.decided)
}

// fail denies a submission that the gate could not process.
func (s *callRoutes) fail(p *submission, err error) {
	v := stopgate.Verdict{Decided: true, Layer: stopgate.LayerFailure, Code: stopgate.CodePolicyError}
	p.set(decisionOf(&p.call, p.bytes, stopgate.Outcome{Verdict: v, Enforced: true}))
	close(p.decided)
}

// await writes the decision of a submission, or its current state when the wait is over.
func (s *callRoutes) await(w http.ResponseWriter, r *http.Request, p *submission, want preferences, ask bool) *problem {
	a, done := s.waitFor(r.Context(), p, want.wait, ask)
	a = a.as(want)
	w.Header().Set("Location", "/v1/calls/"+string(a.ID))
	if done {
		writeJSON(w, http.StatusOK, a)
	} else {
		writeJSON(w, http.StatusAccepted, a)
	}
	return nil
}

// status handles GET /v1/calls/{id}.
func (s *callRoutes) status(w http.ResponseWriter, r *http.Request, who caller) *problem {
	want, bad := preferencesOf(r)
	if bad != nil {
		return bad
	}
	p := s.calls.find(stopgate.ProposalID(r.PathValue("id")), who)
	if p == nil {
		return notFound("no call of yours has this id, or it was long ago")
	}
	return s.await(w, r, p, want, false)
}

// preferences are what a client prefers (RFC 7240): Prefer: wait=SECONDS, args-text.
type preferences struct {
	wait     time.Duration // for an approval
	argsText bool          // the arguments as a string
}

// preferencesOf decodes the header Prefer. Preferences that are not known are ignored.
func preferencesOf(r *http.Request) (want preferences, p *problem) {
	for _, header := range r.Header.Values("Prefer") {
		for part := range strings.SplitSeq(header, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			switch {
			case strings.EqualFold(name, "args-text"):
				want.argsText = true
			case strings.EqualFold(name, "wait") && want.wait == 0:
				n, err := strconv.ParseUint(value, 10, 16)
				if err != nil {
					return want, badRequest("bad_prefer", "Prefer: wait=N wants a number of seconds")
				}
				want.wait = min(time.Duration(n)*time.Second, maxWait)
			}
		}
	}
	return want, nil
}

// idempotencyKey returns the key under which a call is decided only once: the client's own, or
// session, turn and call id if all are known (S43).
func idempotencyKey(r *http.Request, c *stopgate.Call) string {
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		return strings.Join([]string{"k", string(c.Principal), key}, "\x00")
	}
	if c.Session == "" || c.Turn == "" || c.ID == "" {
		return ""
	}
	return strings.Join([]string{"c", string(c.Principal), string(c.Session), string(c.Turn), string(c.ID)}, "\x00")
}

// digest is equal for two requests that submit the same call.
func digest(c *stopgate.Call, args []byte) [sha256.Size]byte {
	parts := [][]byte{
		[]byte(c.Tool), []byte(c.ID), []byte(c.Session), []byte(c.Turn), []byte(c.Agent), []byte(c.Server), args,
	}
	if d := c.Definition; d != nil {
		parts = append(parts, []byte(d.Description), d.Schema)
	}
	var b bytes.Buffer
	for _, part := range parts {
		b.WriteString(strconv.Itoa(len(part)))
		b.WriteByte(' ')
		b.Write(part)
	}
	return sha256.Sum256(b.Bytes())
}
