package gateway

import (
	"crypto/rand"
	"net/http"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// rounds are what is needed to answer a model that made only calls that did not run,
// and to go on with it within one response (WIRE 0.3). The zero rounds answer nothing.
type rounds struct {
	dialect wire.Answerer // nil: the answer ends with a text
	request *http.Request
	sent    []byte      // the body that went upstream last
	left    int         // how many rounds may follow
	said    []wire.Said // of the rounds so far
	now     wire.Said   // of this one
	size    int         // bytes of now
}

// maxSaid bounds what is remembered of one round. A longer one is not continued.
const maxSaid = 8 << 20

// prepare sets the rounds up if the settings and the dialect know them. Event policies
// see one answer of the provider: with them the turn ends with a text.
func (x *exchange) prepare(r *http.Request, body []byte) {
	d, ok := x.dialect.(wire.Answerer)
	if !ok || x.settings.OnDeny != DenyAnswer || !x.enforced || !x.req.Conversational || x.req.N != 1 || x.policies != nil {
		return
	}
	x.rounds = rounds{dialect: d, request: r, sent: body, left: x.settings.AnswerRounds}
}

// hear remembers an event of the model.
func (r *rounds) hear(data []byte) {
	if r.dialect == nil || r.left == 0 {
		return
	}
	if r.size += len(data); r.size > maxSaid {
		r.left, r.now = 0, wire.Said{}
		return
	}
	r.now.Events = append(r.now.Events, slices.Clone(data))
}

// next is the request of the next round, where all calls of this one were refused by a
// rule, a policy or a person, and nothing speaks against going on.
func (x *exchange) next(all []int) ([]byte, bool) {
	r := &x.rounds
	if r.dialect == nil || r.left == 0 || len(all) == 0 || len(all) != len(x.calls.list) {
		return nil, false
	}
	var results []wire.Answered
	for _, i := range all {
		c := &x.calls.list[i]
		v := c.outcome.Verdict
		if !c.resolved || c.outcome.Allowed() || !answerable(v) {
			return nil, false
		}
		results = append(results, wire.Answered{
			Call: c.id, Text: wire.Envelope(v.Code, v.Public), Skipped: c.outcome.Status == stopgate.Skipped,
		})
	}
	return r.dialect.Answer(r.sent, r.now, results)
}

// answerable reports whether the model may go on by itself after a refusal. Where
// something failed, somebody has to answer first, or there were too many refusals
// (DECISIONS S28), the turn ends.
func answerable(v stopgate.Verdict) bool {
	switch v.Code {
	case stopgate.CodeDenialLimit, stopgate.CodeLockdown, stopgate.CodeApprovalPending, stopgate.CodeApprovalTimeout:
		return false
	}
	return v.Layer != stopgate.LayerFailure
}

// nextRound makes the exchange ready for the next round.
func (x *exchange) nextRound(sent []byte) {
	r := &x.rounds
	r.said = append(r.said, r.now)
	r.now, r.size, r.sent = wire.Said{}, 0, sent
	r.left--
	x.before += len(x.calls.list)
	x.calls = calls{x: x, watched: x.calls.watched, batch: x.calls.batch[:0]}
	x.turnID = stopgate.TurnID("t_" + rand.Text())
	x.turn = x.turn.Next(x.turnID)
}

// again answers the model and goes on with what it says then. It reports whether it
// did; otherwise nothing has changed.
func (s *stream) again(all []int) bool {
	sent, ok := s.next(all)
	if !ok {
		return false
	}
	s.flush()
	s.hearOut()
	s.body.Close()
	s.nextRound(sent)
	var answer *http.Response
	var no *refusal
	s.watch.reading = true
	s.unlocked(func() { answer, no = s.send(s.rounds.request, sent) })
	s.watch.reading = false
	if no != nil {
		s.abort(no.code, no.message)
		return true
	}
	s.body = answer.Body
	content, err := decoded(answer.Header["Content-Encoding"], answer.Body)
	if answer.StatusCode != http.StatusOK || err != nil || mediaType(answer.Header) != "text/event-stream" {
		s.abort(stopgate.CodeUpstreamError, "")
		return true
	}
	s.content, s.err = content, nil
	s.buf.decoder.Reset(s.buf.in[:], sse.Limits{MaxEvent: s.settings.Limits.Event, Lent: &s.g.lent})
	s.stream = s.rounds.dialect.Join(s.stream, s.rounds.said, s.dialect.Stream(s.req, &s.calls, s.options(s.settings.Limits.Event)))
	return true
}

// hearOut reads what follows the end of the turn: usage, and the end mark.
func (s *stream) hearOut() {
	events := s.rounds.now.Events
	if len(events) > 0 && s.rounds.dialect.Ends(events[len(events)-1]) {
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
				s.rounds.now.Events = append(s.rounds.now.Events, slices.Clone(ev.Data))
				over = s.rounds.dialect.Ends(ev.Data)
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

// wholeAgain is again for a body.
func (x *exchange) wholeAgain(sent []byte) {
	x.nextRound(sent)
	answer, no := x.send(x.rounds.request, sent)
	if no != nil {
		x.refuse(no)
		return
	}
	defer answer.Body.Close()
	content, err := decoded(answer.Header["Content-Encoding"], answer.Body)
	if answer.StatusCode != http.StatusOK || err != nil || mediaType(answer.Header) != "application/json" {
		x.refuse(badAnswer("The model provider's answer in a later round is not one."))
		return
	}
	x.serveWhole(answer, content)
}
