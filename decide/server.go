package decide

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/approve/page"
	"github.com/stopgate/stopgate/audit/live"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
)

// Records reads audit rows, for operators.
type Records interface {
	// Rows returns up to limit rows behind a sequence number, oldest first.
	Rows(ctx context.Context, after int64, limit int) ([]stopgate.Record, error)
}

// Options set up a [Server].
type Options struct {
	// Gate decides; required.
	Gate *gate.Gate
	// Program returns the policy in force, for POST /v1/check; nil takes the route
	// away.
	Program func() *policy.Program
	// Queue is where questions go; nil takes the routes of approvals away. It should
	// be the gate's approver.
	Queue *approve.Queue
	// Sessions and Records let operators read; nil takes their routes away.
	Sessions gate.Store
	Records  Records
	// Lockdowns is where orders to deny everything are kept; nil takes the routes away.
	Lockdowns gate.Lockdowns
	// Events are what happens, for GET /v1/events; nil takes the route away.
	Events *live.Stream
	// Metrics answers GET /metrics; nil takes it away.
	Metrics http.Handler
	Tokens  []Token
	// PublicURL is where browsers find the pages of questions, if not at the address of
	// the listener; "" for none.
	PublicURL string
	// Trouble hears what goes wrong with connections, nil for nobody.
	Trouble *log.Logger
}

// Server is the decision API. Its methods may be used from several goroutines.
type Server struct {
	options Options
	tokens  atomic.Pointer[[]Token]
	calls   calls
	pages   *page.Pages // nil where nobody could log in
	// life ends when the server closes, as if nobody had answered in time: questions
	// that an approver keeps can still be answered, for the call that comes again.
	life context.Context
	end  context.CancelCauseFunc
	work sync.WaitGroup
	// watchers counts who watches events.
	watchers atomic.Int64

	mu      sync.Mutex
	servers []*http.Server
	closed  bool
}

// New makes a server. It serves nothing until Serve or ServeLocal is called.
func New(o Options) (*Server, error) {
	if o.Gate == nil {
		return nil, errors.New("decide: the API needs a gate")
	}
	s := &Server{options: o, calls: newCalls()}
	if err := s.SetTokens(o.Tokens); err != nil {
		return nil, err
	}
	if s.Pages() {
		var err error
		if s.pages, err = page.New(page.Options{Queue: o.Queue, Login: s.approver, PublicURL: o.PublicURL}); err != nil {
			return nil, err
		}
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s, nil
}

// SetTokens puts other tokens into the place of those that there are: for requests that
// begin afterwards. On an error nothing changes.
func (s *Server) SetTokens(list []Token) error {
	for _, t := range list {
		if t.Name == "" || t.Scopes == 0 {
			return errors.New("decide: every token needs a name and a scope")
		}
	}
	s.tokens.Store(&list)
	return nil
}

// Pages reports whether Serve has pages on which people answer questions, /approvals:
// there is a queue, and a token with the scope approve to log in with.
func (s *Server) Pages() bool {
	return s.options.Queue != nil && slices.ContainsFunc(s.options.Tokens, func(t Token) bool { return t.Scopes&Approve != 0 })
}

// Serve answers requests that carry a token, until Close.
func (s *Server) Serve(ln net.Listener) error { return s.serve(ln, s.Handler(false)) }

// ServeLocal answers the machine's own programs too, without a token and with the
// scopes decide and observe: on a Unix socket that only this user can open.
func (s *Server) ServeLocal(ln net.Listener) error { return s.serve(ln, s.Handler(true)) }

func (s *Server) serve(ln net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: s.options.Trouble,
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errors.Join(http.ErrServerClosed, ln.Close())
	}
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close stops listening and lets requests finish until ctx ends. Calls that wait for
// people are denied as at the end of their hold: what the queue keeps can be answered
// later, and the call proposed again (DECISIONS S5).
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	servers := s.servers
	s.mu.Unlock()
	s.end(gate.ErrHold)
	var all []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			all = append(all, err, server.Close())
		}
	}
	s.work.Wait()
	return errors.Join(all...)
}

// handler is a route: it answers a caller who may use it.
type handler func(w http.ResponseWriter, r *http.Request, who caller) *problem

// Handler is the API as one handler. local says that requests come over a channel
// that only this user can open.
func (s *Server) Handler(local bool) http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, scope Scope, present bool, h handler, query ...string) {
		if !present {
			return
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength < 0 {
				// Without it the server would read a body that is still being written to
				// its end before it answers. Where it is not supported it is not needed.
				_ = http.NewResponseController(w).EnableFullDuplex()
			}
			who, p := s.caller(r, local)
			if p == nil {
				p = who.may(scope)
			}
			if p == nil {
				p = asks(r, query)
			}
			if p == nil {
				p = h(w, r, who)
			}
			if p != nil {
				p.write(w)
			}
		})
	}
	o := &s.options
	route("POST /v1/check", Decide, o.Program != nil, s.check)
	route("POST /v1/calls", Decide, true, s.propose)
	route("POST /v1/calls/stream", Decide, true, s.stream)
	route("GET /v1/calls/{id}", Decide, true, s.look)
	route("POST /v1/calls/{id}/result", Decide, true, s.result)
	route("POST /v1/handoffs", Decide, true, s.handoff)

	route("GET /v1/approvals", Approve, o.Queue != nil, s.questions, "state", "session", "principal")
	route("GET /v1/approvals/watch", Approve, o.Queue != nil, s.watch)
	route("GET /v1/approvals/{id}", Approve, o.Queue != nil, s.question)
	route("POST /v1/approvals/{id}", Approve, o.Queue != nil, s.reply)
	route("GET /v1/grants", Approve, o.Queue != nil, s.grants, "all", "tool", "principal")
	route("DELETE /v1/grants/{id}", Approve, o.Queue != nil, s.revoke)

	route("POST /v1/sessions", Decide, true, s.newSession)
	route("GET /v1/sessions", Operate, o.Sessions != nil, s.sessions, "principal", "limit")
	route("GET /v1/sessions/{id}/facts", Operate, o.Sessions != nil, s.facts, "principal", "after", "limit")
	route("PUT /v1/sessions/{id}/data", Operate, o.Sessions != nil, s.setData, "principal")
	route("POST /v1/sessions/{id}/snapshot", Operate, o.Sessions != nil, s.snapshot, "principal")
	route("POST /v1/sessions/{id}/restore", Operate, o.Sessions != nil, s.restore, "principal")
	route("POST /v1/sessions/{id}/reset", Operate, o.Sessions != nil, s.reset, "principal")

	route("GET /v1/lockdown", Operate, o.Lockdowns != nil, s.lockdown)
	route("PUT /v1/lockdown", Operate, o.Lockdowns != nil, s.lock)
	route("DELETE /v1/lockdown", Operate, o.Lockdowns != nil, s.lift)

	route("GET /v1/records", Operate, o.Records != nil, s.records, "after", "limit")
	route("GET /v1/events", Operate|onSocket, o.Events != nil, s.events, "after", "type", "tool", "session")
	route("GET /v1/openapi.yaml", Decide|Observe|Approve|Operate, true, s.openapi)
	route("GET /metrics", Operate, o.Metrics != nil, func(w http.ResponseWriter, r *http.Request, _ caller) *problem {
		o.Metrics.ServeHTTP(w, r)
		return nil
	})
	if s.pages != nil && !local { // no browser opens a Unix socket
		mux.Handle("/approvals", s.pages)
		mux.Handle("/approvals/", s.pages)
	}
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("/", nowhere(mux))
	return plainly(mux)
}
