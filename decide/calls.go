package decide

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
)

// maxWait is the longest time a request may ask to wait for people.
const maxWait = 10 * time.Minute

// proposal is a call on its way, or its end.
type proposal struct {
	owner stopgate.Principal
	call  stopgate.Call
	sum   [sha256.Size]byte // of everything that was asked
	bytes int64

	decided chan struct{} // closed when answer is set for good
	mu      sync.Mutex
	answer  Answer
}

func (p *proposal) now() Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer
}

func (p *proposal) set(a Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = a
}

// calls remembers proposals, the newest remembered of them, so that they can be
// looked up and are not decided twice.
type calls struct {
	mu    sync.Mutex
	byID  map[stopgate.ProposalID]*proposal
	byKey map[string]*proposal
	order []remembered
	bytes int64 // of the arguments of all of them
}

type remembered struct {
	id    stopgate.ProposalID
	key   string
	bytes int64
}

// maxRemembered is how many proposals can be looked up, as long as their arguments are not
// more than maxKept bytes: the newest can be in any case.
const (
	maxRemembered = 10_000
	maxKept       = 256 << 20
)

func newCalls() calls {
	return calls{byID: map[stopgate.ProposalID]*proposal{}, byKey: map[string]*proposal{}}
}

// claim returns the proposal under a key, or takes the key for a new one.
func (c *calls) claim(key string, fresh *proposal) (p *proposal, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.byKey[key]; key != "" && old != nil {
		return old, false
	}
	if key != "" {
		c.byKey[key] = fresh
		c.order = append(c.order, remembered{key: key})
		c.forget()
	}
	return fresh, true
}

// keep lets a proposal be looked up by its id.
func (c *calls) keep(id stopgate.ProposalID, p *proposal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[id] = p
	c.order = append(c.order, remembered{id: id, bytes: p.bytes})
	c.bytes += p.bytes
	c.forget()
}

// forget drops the oldest; c.mu is held.
func (c *calls) forget() {
	for len(c.order) > 2*maxRemembered || c.bytes > maxKept && len(c.order) > 2 {
		c.bytes -= c.order[0].bytes
		delete(c.byID, c.order[0].id)
		delete(c.byKey, c.order[0].key)
		c.order = c.order[1:]
	}
}

func (c *calls) find(id stopgate.ProposalID, who caller) *proposal {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.byID[id]; p != nil && p.owner == who.name {
		return p
	}
	return nil
}

// propose answers POST /v1/calls: a call with complete arguments goes through every
// layer.
func (s *Server) propose(w http.ResponseWriter, r *http.Request, who caller) *problem {
	wait, bad := patience(r)
	if bad != nil {
		return bad
	}
	call, args, _, bad := wholeCall(w, r, who)
	if bad != nil {
		return bad
	}
	fresh := &proposal{owner: who.name, call: call, sum: digest(&call, args), bytes: int64(len(args)), decided: make(chan struct{})}
	key := idempotencyKey(r, &call)
	if len(r.Header.Get("Idempotency-Key")) > maxName {
		return badRequest("too_long", "an Idempotency-Key may have "+strconv.Itoa(maxName)+" bytes")
	}
	p, mine := s.calls.claim(key, fresh)
	if !mine {
		if p.sum != fresh.sum {
			return &problem{Status: http.StatusConflict, Code: "idempotency_conflict", Detail: "another call was proposed under this key"}
		}
		return s.await(w, r, p, wait)
	}
	ctx := r.Context()
	if key != "" { // whoever lost the connection asks again, and gets the answer of this call
		ctx = context.WithoutCancel(ctx)
	}
	open, err := s.options.Gate.Open(ctx, call)
	if err != nil {
		s.fail(p, err)
		return unavailable("the gate")
	}
	open.Feed(args)
	open.Close(stopgate.Ended)
	s.run(ctx, p, open)
	return s.await(w, r, p, wait)
}

// run takes a closed call to its end. A call that must be answered by somebody goes
// on without the request; every other one ends with it.
func (s *Server) run(ctx context.Context, p *proposal, open *gate.Pending) {
	s.calls.keep(open.ID(), p)
	p.set(Answer{
		ID: open.ID(), Tool: p.call.Tool, Session: p.call.Session, Status: pending, Verdict: verdictOf(open.Verdict()),
		Bytes: p.bytes, Enforced: open.Enforced(),
	})
	if v := open.Verdict(); v.Terminal() || v.Mode.Permissive() || !open.Enforced() {
		s.finish(ctx, p, open)
		return
	}
	s.work.Go(func() { s.finish(s.life, p, open) })
}

// finish resolves one call and keeps its answer.
func (s *Server) finish(ctx context.Context, p *proposal, open *gate.Pending) {
	out, err := open.Resolve(ctx)
	if err != nil && out.Proposal == "" {
		s.fail(p, err)
		return
	}
	if out.Proposal != open.ID() { // somebody edited the call: its result comes under the new id
		s.calls.keep(out.Proposal, p)
	}
	p.set(answerOf(&p.call, p.bytes, out))
	close(p.decided)
}

// fail ends a proposal that the gate could not take.
func (s *Server) fail(p *proposal, err error) {
	v := stopgate.Verdict{Decided: true, Layer: stopgate.LayerFailure, Code: stopgate.CodePolicyError}
	p.set(answerOf(&p.call, p.bytes, stopgate.Outcome{Verdict: v, Enforced: true}))
	close(p.decided)
}

// await answers with a proposal's end, or after some time with what is known.
func (s *Server) await(w http.ResponseWriter, r *http.Request, p *proposal, wait time.Duration) *problem {
	a, done := s.see(r.Context(), p, wait)
	w.Header().Set("Location", "/v1/calls/"+string(a.ID))
	if done {
		writeJSON(w, http.StatusOK, a)
	} else {
		writeJSON(w, http.StatusAccepted, a)
	}
	return nil
}

// asking is how long a call without patience waits until it is known who is asked.
const asking = 2 * time.Second

// see waits for a proposal's end. Without patience it waits only until the question
// has its id.
func (s *Server) see(ctx context.Context, p *proposal, wait time.Duration) (a Answer, done bool) {
	limit := time.NewTimer(max(wait, asking))
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if a = p.now(); wait == 0 && a.Status == pending {
			if a.Approval = s.questionOf(ctx, a.ID); a.Approval != nil {
				return a, false
			}
		}
		select {
		case <-p.decided:
			return p.now(), true
		case <-look.C:
			if wait > 0 {
				look.Stop()
			}
		case <-limit.C:
			a.Approval = s.questionOf(ctx, a.ID)
			return a, false
		case <-ctx.Done():
			return a, false
		}
	}
}

// questionOf names the question that waits for a proposal.
func (s *Server) questionOf(ctx context.Context, id stopgate.ProposalID) *Approval {
	if s.options.Queue == nil {
		return nil
	}
	list, err := s.options.Queue.List(ctx, approve.Filter{State: approve.Waiting, Proposal: id, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Unattended() { // then the call has ended, or does now
		return nil
	}
	return &Approval{ID: list[0].ID}
}

// look answers GET /v1/calls/{id}.
func (s *Server) look(w http.ResponseWriter, r *http.Request, who caller) *problem {
	wait, bad := patience(r)
	if bad != nil {
		return bad
	}
	p := s.calls.find(stopgate.ProposalID(r.PathValue("id")), who)
	if p == nil {
		return notFound("no call of yours has this id, or it was long ago")
	}
	return s.await(w, r, p, wait)
}

// patience reads Prefer: wait=SECONDS (RFC 7240).
func patience(r *http.Request) (time.Duration, *problem) {
	for _, header := range r.Header.Values("Prefer") {
		for part := range strings.SplitSeq(header, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			if !strings.EqualFold(name, "wait") {
				continue
			}
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				return 0, badRequest("bad_prefer", "Prefer: wait=N wants a number of seconds")
			}
			return min(time.Duration(n)*time.Second, maxWait), nil
		}
	}
	return 0, nil
}

// idempotencyKey is the key under which a call is decided once: the client's own, or
// session, turn and call id where all of them are known (DECISIONS S43).
func idempotencyKey(r *http.Request, c *stopgate.Call) string {
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		return strings.Join([]string{"k", string(c.Principal), key}, "\x00")
	}
	if c.Session == "" || c.Turn == "" || c.ID == "" {
		return ""
	}
	return strings.Join([]string{"c", string(c.Principal), string(c.Session), string(c.Turn), string(c.ID)}, "\x00")
}

// digest is equal for two requests that propose the same call.
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
