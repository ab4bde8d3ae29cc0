package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/gateway/history"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire"
)

// exchange is one gated request and its response. The handler's goroutine owns
// it; the watch's timer shares what mu guards.
type exchange struct {
	*configuration
	g        *Gateway
	w        http.ResponseWriter
	rc       *http.ResponseController
	dialect  wire.Dialect
	req      *wire.Request
	upstream *upstream
	enforced bool

	ctx     context.Context // ends with the client, the gateway, a deadline
	cancel  context.CancelCauseFunc
	held    context.Context // the same, and with the time to wait for people; calls are asked about under it
	records context.Context // the same as ctx without its end, for what must be recorded

	session   stopgate.SessionID
	past      *history.Conversation // that the request is a part of
	rounds    rounds
	sum       sum // of the rounds before
	turn      *gate.Turn
	turnID    stopgate.TurnID
	agent     stopgate.AgentName
	principal stopgate.Principal

	seen     *sight
	stopped  bool        // the provider was stopped: nothing is left that may run
	stop     func()      // stops it, and nothing else
	letGo    func() bool // lets it go on after the exchange; nil where that makes no sense
	later    *reading    // what goes on
	policies *events.Run // the event policies at work, nil without any

	calls calls
	asked sync.WaitGroup // goroutines that wait for an answer, see await
	fault stopgate.Code  // why the response ended badly, "" if it did not
	notes wire.Notes     // what the response showed beside its calls
	start time.Time
	heard int // the status of the provider's last answer, 0 without one

	mu        sync.Mutex // output, codec and watch
	watch     watch
	stream    wire.Stream
	headed    bool  // the response header is written
	broken    error // writing to the client failed
	unflushed bool  // something was put behind the last flush
	deadline  time.Time
	accounted int64 // of calls.held, what Gateway.held knows
}

// serveGated serves a request whose answer may carry calls. It waits below run: see
// serveStream.
func (g *Gateway) serveGated(w http.ResponseWriter, r *http.Request, rt *route, v visit) {
	x, body := g.open(w, r, rt, v, dialectOf(r.URL.Path))
	if x == nil {
		return
	}
	defer x.end()
	body, no := x.ready(r, rt.api, body)
	if no != nil {
		g.refuse(w, r, no)
		return
	}
	x.ask(r, body, x.serve)
}

// ready makes the request what the provider may see.
//
//go:noinline
func (x *exchange) ready(r *http.Request, api string, body []byte) ([]byte, *refusal) {
	no := x.refusals()
	if no == nil {
		no = x.serverTools()
	}
	if no != nil {
		return nil, no
	}
	if body, no = x.history(r, api, body); no != nil {
		return nil, no
	}
	x.prepare(r, body)
	return body, nil
}

// open reads a request that holds a conversation, and begins its exchange; there is none
// if the request was refused.
//
//go:noinline
func (g *Gateway) open(w http.ResponseWriter, r *http.Request, rt *route, v visit, d wire.Dialect) (*exchange, []byte) {
	body, no := readBody(w, r, &v.settings)
	var req *wire.Request
	if no == nil {
		req, no = readRequest(d, body)
	}
	if no != nil {
		g.refuse(w, r, no)
		return nil, nil
	}
	return g.newExchange(w, r, v, d, req, v.choose(rt.api, req.Model, r.Header)), body
}

//go:noinline
func readRequest(d wire.Dialect, body []byte) (*wire.Request, *refusal) {
	req, err := d.Request(body)
	var bad *wire.RequestError
	switch {
	case err == nil:
		req.Bytes = len(body)
		return req, nil
	case errors.As(err, &bad):
		return nil, &refusal{status: bad.Status, code: bad.Code, message: bad.Message}
	}
	return nil, &refusal{status: http.StatusBadRequest, code: stopgate.CodeProtocolViolation}
}

// history learns from the conversation in a request and makes it what the provider may
// see: without the results that are withheld, as the event policies leave it, and with
// the calls that the client does not know of.
func (x *exchange) history(r *http.Request, api string, body []byte) ([]byte, *refusal) {
	x.turn = x.g.gate.Turn(session.Owner{Principal: x.principal, Session: x.session}, x.turnID)
	like := stopgate.Call{Agent: x.agent, Surface: stopgate.SurfaceGateway, Dialect: x.dialect.Name()}
	body = x.past.Recall(x.records, x.req, x.turn, like, body, x.enforced)
	x.req.Past = nil // told now, and it holds on to the body
	x.begin(r, body)
	body, no := x.revise(r, api, body)
	if no != nil {
		return nil, no
	}
	x.req.Past = nil // as a policy has it
	if x.enforced {
		body = x.past.Restore(x.records, body)
	}
	return body, nil
}

// keepRound remembers an answer behind which the response goes on.
func (x *exchange) keepRound(codec any) { x.past.KeepRound(x.records, x.req, codec) }

// keep remembers what was answered. It comes before the client has the end of the
// response and can continue it.
func (x *exchange) keep(codec any, seams []wire.Replaced) {
	x.past.Keep(x.records, x.req, codec, x.calls.released, seams)
}

// forgot says that the gateway could not read or keep something of a conversation.
func (g *Gateway) forgot(what string, err error) {
	g.faults.count(stopgate.CodeStoreUnavailable)
	g.log.Warn(what, "error", err)
}

func (g *Gateway) newExchange(w http.ResponseWriter, r *http.Request, v visit, d wire.Dialect, req *wire.Request, up *upstream) *exchange {
	x := &exchange{
		configuration: v.configuration, seen: v.seen, g: g, w: w, rc: http.NewResponseController(w), dialect: d, req: req, upstream: up,
		enforced: g.gate.Enforced(), records: context.WithoutCancel(r.Context()), start: time.Now(),
		turnID: stopgate.TurnID("t_" + rand.Text()), agent: "main", principal: v.principal,
	}
	x.ctx, x.cancel = context.WithCancelCause(r.Context())
	x.held = x.ctx
	x.calls.x, x.calls.watched = x, x.chain.WatchesCalls()
	if agent := r.Header.Get("X-Stopgate-Agent"); validName(agent) {
		x.agent = stopgate.AgentName(agent)
	}
	history.Await(r.Context(), req, g.book, v.principal)
	x.past = history.Find(x.records, req, r.Header, history.Options{
		Book: g.book, Dialect: d, Principal: v.principal, Upstream: up.ID, Failed: g.forgot,
		CacheKeyIsSession: v.settings.CacheKeyIsSession, ShareSubagents: v.settings.ShareSubagents,
	})
	x.session = x.past.Session
	x.seen.begin(x)
	return x
}

// refusals refuses what no codec can judge. In observe mode it passes and is noted.
func (x *exchange) refusals() *refusal {
	for _, no := range x.req.Refusals {
		if x.enforced {
			return &refusal{status: no.Status, code: no.Code, message: no.Message}
		}
		x.unjudged(no.Code, "")
	}
	return nil
}

// serverTools refuses tools that would run at the provider, unless they are
// listed (WIRE 2.8). In observe mode they pass and are noted.
func (x *exchange) serverTools() *refusal {
	for _, typ := range x.req.ServerTools {
		if listed(x.settings.ServerTools, typ) {
			continue
		}
		if x.enforced {
			return &refusal{status: http.StatusBadRequest, code: stopgate.CodeServerToolNotAllowed,
				message: "This request uses a tool that runs at the provider" + named(typ) + " and is not allowed. List it in [gateway] server_tools to allow it."}
		}
		x.unjudged(stopgate.CodeServerToolNotAllowed, "")
	}
	return nil
}

// named is a type's name for a message, if it looks like one.
func named(typ string) string {
	if !stopgate.ValidToolName(stopgate.ToolName(strings.ReplaceAll(typ, "/", "."))) { // models have a / in their names
		return ""
	}
	return " (" + typ + ")"
}

func listed(patterns []string, typ string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(typ, prefix) || p == typ {
			return true
		}
	}
	return false
}

// end writes the rows of what was given up, so that every proposal has one
// (I23), and takes the exchange off the books.
func (x *exchange) end() {
	x.cancel(errOver)
	x.asked.Wait()
	x.policies.Complete(x.records)
	defer x.tellJudged()
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range x.calls.list {
		held := &x.calls.list[i]
		if held.pending == nil {
			continue
		}
		if !held.resolved {
			if x.fault != "" {
				held.pending.Refuse(x.fault)
			}
			held.pending.Cancel(x.records)
			continue
		}
		if held.outcome.Allowed() && held.outcome.Enforced && !held.delivered {
			x.note(stopgate.Record{Event: stopgate.AuditReleaseFailed, ID: held.outcome.Proposal, Code: x.fault, CallID: held.id, Tool: held.tool})
		}
	}
	x.calls.held = 0
	x.account()
	if x.stopped && x.notes.UsageIncomplete && x.later == nil {
		x.noteStopped("")
	}
	x.seen.result(x)
	if x.fault != "" {
		x.g.faults.count(x.fault)
	}
	x.say()
	if x.later != nil {
		x.g.exchanges.Add(1)
		go x.later.run()
	}
}

// remember keeps what the response showed beside its calls, and records what was
// not judged (L10, L12).
func (x *exchange) remember(n wire.Notes) {
	x.notes = n
	for _, what := range n.NotEvaluated {
		x.unjudged(stopgate.CodeNotEvaluated, what)
	}
	for _, name := range n.Removed {
		x.unjudged(stopgate.CodeEnvelopeMismatch, "dropped "+name)
	}
	for _, event := range n.Strange {
		x.unjudged(stopgate.CodeEnvelopeMismatch, event)
	}
}

// unjudged records that something passed which may have carried a call (L12). A
// row is large: inlined it would stay on the stack of every waiting stream.
//
//go:noinline
func (x *exchange) unjudged(code stopgate.Code, cause string) {
	x.note(stopgate.Record{Event: stopgate.AuditNotEvaluated, Code: code, Cause: cause})
}

// note writes an event row of this exchange.
func (x *exchange) note(r stopgate.Record) {
	r.Session, r.Turn, r.Agent, r.Principal = x.session, x.turnID, x.agent, x.principal
	r.Surface, r.Dialect = stopgate.SurfaceGateway, x.dialect.Name()
	// A row that cannot be written is counted by the gate and shows in its health.
	_ = x.g.gate.Note(x.records, r)
}

// account keeps the process's count of held bytes. Called with mu held.
func (x *exchange) account() {
	if d := x.calls.held - x.accounted; d != 0 {
		x.g.held.Add(d)
		x.accounted = x.calls.held
	}
}
