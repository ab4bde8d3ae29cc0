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
	"github.com/stopgate/stopgate/internal/gateway/calls"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/history"
	"github.com/stopgate/stopgate/internal/gateway/texts"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/session"
)

// exchange is one gated request and its response. The handler's goroutine owns it; it shares the
// fields guarded by mu with the timer of watch.
type exchange struct {
	*configuration
	g        *Gateway
	api      *registry.API
	dialect  provider.Dialect // its codec
	req      *provider.Request
	upstream *upstream.Server
	enforced bool

	ctx     context.Context // canceled by the client, the gateway or a deadline
	cancel  context.CancelCauseFunc
	records context.Context // ctx without cancellation, for audit rows

	session      stopgate.SessionID
	conversation *history.Conversation // conversation of the request
	rounds       rounds
	sum          sum // sums of the earlier rounds
	turn         *gate.Turn
	turnID       stopgate.TurnID
	agent        stopgate.AgentName
	principal    stopgate.Principal
	groups       stopgate.Groups

	observed *observedExchange
	provider providerCall
	later    *reading   // the upstream response that is read after the exchange
	policies *chain.Run // run of the event policies, or nil

	calls   calls.Calls
	sources *texts.Report  // texts of the conversation, for conditions on origins
	asked   sync.WaitGroup // goroutines started by await
	fault   stopgate.Code  // why the response ended early, or ""
	notes   provider.Notes // parts of the response other than calls
	start   time.Time

	mu        sync.Mutex // guards client, stream and watch
	watch     watch
	stream    provider.Stream
	client    clientWriter
	accounted int64 // part of calls.Buffered that is counted in Gateway.buffered
}

// serveGated serves a request whose response can contain calls. It blocks below run: see
// serveStream.
func (g *Gateway) serveGated(w http.ResponseWriter, r *http.Request, rt *route, v clientRequest) {
	var x *exchange
	defer func() {
		if x != nil {
			x.end()
		}
	}()
	var body []byte
	var no *refusal
	apart(func() {
		if x, body = g.open(w, r, rt, v); x != nil {
			body, no = x.ready(r, rt.vendor, body)
		}
	})
	switch {
	case x == nil:
	case no != nil:
		g.refuse(w, r, no)
	default:
		x.ask(r, body, x.serve)
	}
}

// ready converts the request to the form that is sent to the provider.
//
//go:noinline
func (x *exchange) ready(r *http.Request, vendor string, body []byte) ([]byte, *refusal) {
	no := x.refusals()
	if no == nil {
		no = x.serverTools()
	}
	if no != nil {
		return nil, no
	}
	if body, no = x.history(r, vendor, body); no != nil {
		return nil, no
	}
	x.prepare(r, body)
	x.calls.Setup = calls.Setup{
		Gate: x.g.gate, Turn: x.turn, Request: x.req, Policies: x.policies, Texts: x.sources, Agent: x.agent, Groups: x.groups, Dialect: x.dialect.Name(),
		Ctx: x.ctx, Approvals: x.ctx, Records: x.records, Enforced: x.enforced, Watched: x.chain.WatchesCalls(),
		DenyIsError: x.settings.OnDeny == DenyError, BlockTurn: x.settings.OnBlock == BlockTurn, MaxHeld: x.settings.Limits.HeldResponse,
		Await: x.await, MayCancel: func() bool { return x.stream != nil && x.mayCancel() }, PolicyFailed: x.hookFailed,
	}
	return body, nil
}

// open reads a request that contains a conversation and starts its exchange. It returns nil if the
// request was refused.
//
//go:noinline
func (g *Gateway) open(w http.ResponseWriter, r *http.Request, rt *route, v clientRequest) (*exchange, []byte) {
	body, no := readBody(w, r, &v.settings)
	var req *provider.Request
	if no == nil {
		req, no = readRequest(rt.api, r.URL.Path, body)
	}
	if no != nil {
		g.refuse(w, r, no)
		return nil, nil
	}
	return g.newExchange(w, r, v, rt.api, req, v.upstreams.Choose(rt.vendor, req.Model, r)), body
}

//go:noinline
func readRequest(api *registry.API, path string, body []byte) (*provider.Request, *refusal) {
	req, err := api.Request(path, body)
	var bad *provider.RequestError
	switch {
	case err == nil:
		req.Bytes = len(body)
		return req, nil
	case errors.As(err, &bad):
		return nil, &refusal{status: bad.Status, code: bad.Code, message: bad.Message}
	}
	return nil, &refusal{status: http.StatusBadRequest, code: stopgate.CodeProtocolViolation}
}

// history records the results in the conversation of a request and edits it for the provider: it
// removes results that are withheld, applies the event policies, and restores calls that the client
// does not have.
func (x *exchange) history(r *http.Request, vendor string, body []byte) ([]byte, *refusal) {
	x.turn = x.g.gate.Turn(session.Owner{Principal: x.principal, Session: x.session}, x.turnID)
	like := stopgate.Call{Agent: x.agent, Groups: x.groups, Surface: stopgate.SurfaceGateway, Dialect: x.dialect.Name()}
	body = x.conversation.RecordResults(x.records, x.req, x.turn, like, body, x.enforced)
	if x.sources = x.conversation.ReportTexts(x.records, x.req, x.g.texts); x.sources != nil {
		go x.sources.Add(x.records) // while the provider works
	}
	x.req.History, x.req.Texts = nil, nil // recorded already, and they reference the body
	x.begin(r, body)
	body, no := x.revise(r, vendor, body)
	if no != nil {
		return nil, no
	}
	x.req.History, x.req.Texts = nil, nil // as changed by a policy
	if x.enforced {
		body = x.conversation.Restore(x.records, body)
	}
	return body, nil
}

// keepRound saves a provider response that the gateway itself continues.
func (x *exchange) keepRound(codec any) { x.conversation.SaveRound(x.records, x.req, codec) }

// keep saves the response before the client receives its end and can continue it.
func (x *exchange) keep(codec any, seams []provider.ReplacedCall) {
	x.sources.End(x.records, x.conversation.ContinuedBy(x.req, codec))
	x.conversation.Save(x.records, x.req, codec, x.calls.Released, seams)
}

// reportHistory counts and logs an operation on the history of a conversation that failed.
func (g *Gateway) reportHistory(what string, err error) {
	g.faults.count(stopgate.CodeStoreUnavailable)
	g.log.Warn(what, "error", err)
}

func (g *Gateway) newExchange(w http.ResponseWriter, r *http.Request, v clientRequest, api *registry.API, req *provider.Request, up *upstream.Server) *exchange {
	x := &exchange{
		configuration: v.configuration, observed: v.observed, g: g, api: api, dialect: api.Dialect, req: req, upstream: up,
		enforced: g.gate.Enforced(), records: context.WithoutCancel(r.Context()), start: time.Now(),
		turnID: stopgate.TurnID("t_" + rand.Text()), agent: "main", principal: v.principal, groups: v.groups,
		client: clientWriter{ResponseWriter: w, rc: http.NewResponseController(w), limit: v.settings.Timeouts.Write},
	}
	x.ctx, x.cancel = context.WithCancelCause(r.Context())
	x.provider.x = x
	if agent := r.Header.Get("X-Stopgate-Agent"); validName(agent) {
		x.agent = stopgate.AgentName(agent)
	}
	history.Await(r.Context(), req, g.responses, v.principal)
	x.conversation = history.Find(x.records, req, r.Header, history.Options{
		Log: g.responses, Dialect: api.Dialect, Principal: v.principal, Upstream: up.ID, Failed: g.reportHistory,
		CacheKeyIsSession: v.settings.CacheKeyIsSession, ShareSubagents: v.settings.ShareSubagents,
	})
	x.session = x.conversation.Session
	x.observed.begin(x)
	return x
}

// refusals refuses requests that no codec can judge. In observe mode they are forwarded and
// recorded.
func (x *exchange) refusals() *refusal {
	for _, no := range x.req.Refusals {
		if x.enforced {
			return &refusal{status: no.Status, code: no.Code, message: no.Message}
		}
		x.unjudged(no.Code, "")
	}
	return nil
}

// serverTools refuses tools that run at the provider, unless they are configured. In observe mode
// they are forwarded and recorded.
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

// named returns the name of a type for a message if it is a valid name.
func named(typ string) string {
	if !stopgate.ValidToolName(stopgate.ToolName(strings.ReplaceAll(typ, "/", "."))) { // names of models contain slashes
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

// end writes the rows of calls that were cancelled, so that every pending call has one (I23), and
// releases the exchange's counters.
func (x *exchange) end() {
	x.cancel(errOver)
	x.asked.Wait()
	x.policies.Count(x.counts())
	x.policies.Complete(x.records)
	defer x.sum.judged.summarize(x)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.calls.End(x.fault, func(tc *calls.Call) {
		code := x.fault
		if tc.Withheld {
			code = stopgate.CodePolicyDropped
		}
		x.note(stopgate.Record{Event: stopgate.AuditReleaseFailed, ID: tc.Outcome.Proposal, Code: code, CallID: tc.ID, Tool: tc.Tool})
	})
	x.account()
	if x.provider.cancelled && x.notes.UsageIncomplete && x.later == nil {
		x.noteStopped("")
	}
	x.observed.result(x)
	if x.fault != "" {
		x.g.faults.count(x.fault)
	}
	x.logExchange()
	if x.later != nil {
		x.g.exchanges.Add(1)
		go x.later.run()
	}
}

// remember stores the parts of the response other than calls and records those that were not judged
// (L10, L12).
func (x *exchange) remember(n provider.Notes) {
	x.notes = n
	for _, what := range n.NotEvaluated {
		x.unjudged(stopgate.CodeNotEvaluated, what)
	}
	for _, name := range n.Removed {
		x.unjudged(stopgate.CodeEnvelopeMismatch, "dropped "+name)
	}
	for _, event := range n.Unexpected {
		x.unjudged(stopgate.CodeEnvelopeMismatch, event)
	}
}

// unjudged records that something was forwarded which may have contained a call (L12). It is not
// inlined because a row is large and would stay on the stack of every waiting stream.
//
//go:noinline
func (x *exchange) unjudged(code stopgate.Code, cause string) {
	x.note(stopgate.Record{Event: stopgate.AuditNotEvaluated, Code: code, Cause: cause})
}

// note writes an event row of this exchange.
func (x *exchange) note(r stopgate.Record) {
	r.Session, r.Turn, r.Agent, r.Principal = x.session, x.turnID, x.agent, x.principal
	r.Surface, r.Dialect = stopgate.SurfaceGateway, x.dialect.Name()
	// The gate counts a row that cannot be written and reports it in its health.
	_ = x.g.gate.Note(x.records, r)
}

// account updates the process's count of buffered bytes. mu must be locked.
func (x *exchange) account() {
	if d := x.calls.Buffered - x.accounted; d != 0 {
		x.g.buffered.Add(d)
		x.accounted = x.calls.Buffered
	}
}
