package gateway

import (
	"cmp"
	"crypto/rand"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/body"
	"github.com/stopgate/stopgate/internal/gateway/calls"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// rounds is the state for answering a model, within one response, whose calls were all denied. The
// zero rounds does not answer.
type rounds struct {
	dialect   provider.MultiRound // nil: the response ends with a text
	request   *http.Request
	sent      []byte           // last body sent upstream
	left      int              // number of rounds left
	earlier   []provider.Round // earlier rounds
	now       provider.Round   // current round
	size      int              // size of now in bytes
	apart     bool             // now is recorded before the event policies
	waiting   bool             // the next round was requested
	cancelled bool             // the provider is being cancelled: none of its calls can run
}

// maxRoundBytes limits the recorded bytes of one round. A longer round is not continued.
const maxRoundBytes = 8 << 20

// prepare initialises the rounds if the settings enable them and the dialect supports them.
func (x *exchange) prepare(r *http.Request, body []byte) {
	if d, ok := x.dialect.(provider.MultiRound); ok && x.answers() {
		x.rounds = rounds{dialect: d, request: r, sent: body, left: x.settings.AnswerRounds}
	}
}

// answers reports whether a model whose calls were all denied may be answered.
func (x *exchange) answers() bool {
	return x.settings.OnDeny == DenyAnswer && x.settings.AnswerRounds > 0 && x.enforced && x.req.Conversational && x.req.N == 1
}

// recording reports whether events of the model are recorded.
func (r *rounds) recording() bool { return r.dialect != nil && r.left > 0 }

// record records an event of the model.
func (r *rounds) record(data []byte) {
	if !r.recording() {
		return
	}
	if r.size += len(data); r.size > maxRoundBytes {
		r.left, r.now = 0, provider.Round{}
		return
	}
	r.now.Events = append(r.now.Events, slices.Clone(data))
}

// roundRecorder records the model's events before the event policies: the provider receives its own
// response back, not the edited one.
type roundRecorder struct {
	io.Reader
	rounds  *rounds
	decoder *sse.Decoder
}

// before returns content whose events are recorded before the event policies receive it.
func (r *rounds) before(content io.Reader, maxEvent int) io.Reader {
	if r.dialect == nil {
		return content
	}
	r.apart = true
	return &roundRecorder{content, r, sse.NewDecoder(nil, sse.Limits{MaxEvent: maxEvent})}
}

// Read implements [io.Reader].
func (h *roundRecorder) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if h.rounds.left == 0 {
		return n, err
	}
	h.decoder.Feed(p[:n])
	for {
		var ev sse.Event
		ok, bad := h.decoder.Next(&ev)
		if bad != nil {
			h.rounds.left = 0
		}
		if bad != nil || !ok {
			return n, err
		}
		if ev.Dispatched {
			h.rounds.record(ev.Data)
		}
	}
}

// next builds the request of the next round, if all calls of this one were denied by a rule, a
// policy or a person, and no limit prevents it.
func (r *rounds) next(x *exchange, all []int) ([]byte, bool) {
	if r.dialect == nil || r.left == 0 || len(all) == 0 || len(all) != len(x.calls.List) || x.policies.Ended() || x.policies.Stopped() {
		return nil, false
	}
	r.now.Results = nil
	for n, i := range all {
		c := &x.calls.List[i]
		v := c.Outcome.Verdict
		if !c.Resolved || c.Outcome.Allowed() || c.Silent || !answerable(v) {
			return nil, false
		}
		public := v.Public
		if x.provider.cancelled && n == len(all)-1 {
			public = cmp.Or(public, v.Code.Public()) + " " + provider.StoppedText
		}
		r.now.Results = append(r.now.Results, provider.CallResult{
			Call: c.ID, Text: provider.DenialEnvelope(v.Code, public), Skipped: c.Outcome.Status == stopgate.Skipped,
		})
	}
	next, ok := r.dialect.NextRequest(r.sent, r.now)
	if _, restores := x.dialect.(provider.Restorer); restores && len(next)-len(r.sent) > responselog.MaxItem {
		return nil, false // it could not be restored when the client sends it back
	}
	return next, ok
}

// answerable reports whether the model may continue after this denial. After a failure, a required
// approval, or too many denials (S28), the turn ends.
func answerable(v stopgate.Verdict) bool {
	switch v.Code {
	case stopgate.CodeDenialLimit, stopgate.CodeLockdown, stopgate.CodeApprovalPending, stopgate.CodeApprovalTimeout:
		return false
	}
	return v.Layer != stopgate.LayerFailure
}

// advance prepares the exchange for the next round.
func (r *rounds) advance(x *exchange, sent []byte) {
	if x.provider.cancelled && x.notes.UsageIncomplete {
		x.noteStopped("")
		if x.notes.UsageEstimated {
			r.now.Estimate, x.sum.estimated = x.notes.Response.Tokens, true
		}
	}
	r.earlier = append(r.earlier, r.now)
	r.now, r.size, r.sent, r.cancelled = provider.Round{}, 0, sent, false
	r.left--
	x.policies.Again()
	x.sum.judged.report(x)
	x.sum.add(&x.calls)
	x.observed.next(x)
	x.provider.cancelled = false
	x.turnID = stopgate.TurnID("t_" + rand.Text())
	x.turn = x.turn.Next(x.turnID)
	x.calls.Reset(x.turn)
}

// sum holds the sums of the earlier rounds.
type sum struct {
	calls, denied    int
	received, wasted int64
	judged           judged
	estimated        bool     // the usage of one round is estimated
	codes            []string // codes of denied calls
	counts           events.CallCounts
}

func (s *sum) add(c *calls.Calls) {
	s.calls += len(c.List)
	s.denied += c.Denied
	c.Count(&s.counts)
	s.codes = c.Codes(s.codes)
	s.received += c.Received
	s.wasted += c.Wasted
}

// continueRound answers the model and continues with its next response. It returns false, without a change,
// if that is not possible.
func (s *stream) continueRound(all []int) bool {
	sent, ok := s.rounds.next(s.exchange, all)
	if !ok {
		return false
	}
	s.flush()
	if i, ok := s.stream.(provider.RoundCloser); ok { // before more is read: it references the event that ended the turn
		s.out = i.CloseRound(s.out, s.calls.Releases(all))
	}
	s.flush()
	if !s.provider.cancelled {
		s.readTrailer()
	}
	s.body.Close()
	s.keepRound(s.stream)
	s.remember(s.stream.Notes())
	s.rounds.lastTokens(&s.notes.Response)
	s.flush()
	s.rounds.advance(s.exchange, sent)
	var answer *http.Response
	var no *refusal
	s.watch.drainBy = time.Time{} // of the previous response
	s.watch.reading, s.rounds.waiting = true, true
	s.unlocked(func() { answer, no = s.provider.send(s.rounds.request, sent) })
	s.watch.reading, s.rounds.waiting = false, false
	if no != nil {
		s.abort(no.code, no.message)
		return true
	}
	s.body = answer.Body
	content, err := body.Decoded(answer.Header["Content-Encoding"], answer.Body)
	if answer.StatusCode != http.StatusOK || err != nil || body.MediaType(answer.Header) != "text/event-stream" {
		s.abort(stopgate.CodeUpstreamError, "")
		return true
	}
	s.raw, s.content, s.err = content, s.texts(content), nil
	s.buf.decoder.Reset(s.buf.in[:], sse.Limits{MaxEvent: s.settings.Limits.Event, Pool: &s.g.lent})
	s.stream = s.rounds.dialect.Join(s.stream, s.rounds.earlier, s.dialect.Stream(s.req, &s.calls, s.options(s.settings.Limits.Event)))
	return true
}

// readTrailer reads the parts after the end of the turn: usage and the end marker.
func (s *stream) readTrailer() {
	events := s.rounds.now.Events
	if len(events) > 0 && s.rounds.dialect.IsLastEvent(events[len(events)-1]) {
		return
	}
	s.watch.endBy(s.settings.Timeouts.DrainUpstream)
	ev := &s.buf.event
	for over := false; !over; {
		for !over {
			ok, err := s.buf.decoder.Next(ev)
			if over = err != nil; over || !ok {
				break
			}
			if ev.Dispatched {
				if !s.rounds.apart {
					s.rounds.now.Events = append(s.rounds.now.Events, slices.Clone(ev.Data))
				}
				over = s.rounds.dialect.IsLastEvent(ev.Data)
			}
		}
		if !over {
			if over = s.err != nil; !over {
				s.read()
			}
		}
	}
	s.watch.drainBy = time.Time{}
}

// reportEnd reports the end of the response to the event policies, if it was deferred because
// another round might have followed. It returns whether the response can continue.
func (s *stream) reportEnd() bool {
	if !s.policies.Ending() {
		return true
	}
	s.policies.Count(s.counts())
	var more []chain.Addition
	var err error
	s.watch.resolving = true
	s.unlocked(func() { more, err = s.policies.Finish(s.ctx) })
	s.watch.resolving = false
	if err != nil {
		s.abort(s.hookFailed(err), "")
		return false
	}
	if to, ok := s.stream.(provider.TextAdder); ok {
		for _, a := range more {
			to.AddText(a.Choice, a.Text)
		}
	}
	return true
}

// lastTokens reads usage after the end of the turn, which the codec did not read.
func (r *rounds) lastTokens(a *provider.ResponseInfo) {
	const behind = 4
	for _, data := range r.now.Events[max(0, len(r.now.Events)-behind):] {
		if v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1)); err == nil {
			a.Read(v)
		}
	}
}
