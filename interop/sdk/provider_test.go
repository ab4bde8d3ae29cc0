package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is what the provider says to a request whose model is its name.
type script struct {
	api string // chat, responses, messages
	// events are what a streamed answer consists of, framed.
	events []string
	// whole is the answer that is not streamed; "" where the script is about streams.
	whole string
	// cut ends the connection behind the events instead of the body.
	cut bool
	// endless repeats the last event until the client is gone.
	endless bool
	// said are the calls that the provider made and remembers.
	said []toolCall
	// rounds are the answers to a model whose calls were refused: what comes depends on
	// how many refusals the history holds.
	rounds []*script
}

// framing is how a stream is written to the socket.
type framing string

const (
	perEvent framing = "events"
	atOnce   framing = "once"
	perByte  framing = "bytes"
	crlf     framing = "crlf"
)

// provider plays scripts. A request for the model "NAME+next" is the turn after
// NAME: it is answered "accepted" if its history is one that the real provider
// would take, and with an error that says why not.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	scripts map[string]*script
	gone    map[string]chan struct{} // closed when the client of an endless script went away
	bodies  map[string][]byte        // the last request of a model
	issued  map[string]*script       // by the id of the response
}

func newProvider(t testing.TB, scripts map[string]*script) *provider {
	p := &provider{scripts: scripts, gone: map[string]chan struct{}{}, bodies: map[string][]byte{}, issued: map[string]*script{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// add adds a script while the provider serves.
func (p *provider) add(name string, s *script) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[name] = s
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	if err != nil || json.Unmarshal(body, &request) != nil {
		http.Error(w, "a request that is no JSON", http.StatusBadRequest)
		return
	}
	if _, call, ok := strings.Cut(r.URL.Path, "/models/"); ok { // Gemini, /v1 or /v1beta
		model, method, _ := strings.Cut(call, ":")
		request.Model, request.Stream = strings.Replace(model, "~", "/", 1), method == "streamGenerateContent"
	}
	name, frame, _ := strings.Cut(request.Model, "/")
	name, next := strings.CutSuffix(name, "+next")
	p.mu.Lock()
	s := p.scripts[name]
	p.bodies[request.Model] = body
	p.mu.Unlock()
	if s == nil {
		http.Error(w, "no script "+name, http.StatusNotFound)
		return
	}
	if next {
		if err := p.strict(s, body); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","code":null,"param":null,"message":%s}}`, quote(err.Error()))
			return
		}
		s = accepted(s.api)
	} else if s.rounds != nil {
		n := strings.Count(string(body), `rule_matched`)
		if err := strictHistory(s.api, body, nil); n > 0 && err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s = s.rounds[min(n, len(s.rounds)-1)]
	}
	s = p.issue(s)
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, s.whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	p.stream(w, r, s, framing(frame), request.Model)
}

func (p *provider) stream(w http.ResponseWriter, r *http.Request, s *script, frame framing, model string) {
	flush := http.NewResponseController(w).Flush
	switch frame {
	case atOnce:
		io.WriteString(w, strings.Join(s.events, ""))
	case perByte:
		for _, c := range []byte(strings.Join(s.events, "")) {
			w.Write([]byte{c})
			flush()
		}
	default:
		pace, _ := time.ParseDuration(string(frame))
		for _, e := range s.events {
			if time.Sleep(pace); r.Context().Err() != nil {
				return
			}
			if frame == crlf {
				e = strings.ReplaceAll(e, "\n", "\r\n")
			}
			io.WriteString(w, e)
			flush()
		}
	}
	flush()
	for s.endless {
		if _, err := io.WriteString(w, s.events[len(s.events)-1]); err != nil || flush() != nil || r.Context().Err() != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			close(p.gone[model])
			return
		}
	}
	if s.cut {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}
}

// leaves returns a channel that is closed when the client of a model's endless
// stream went away.
func (p *provider) leaves(model string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := make(chan struct{})
	p.gone[model] = c
	return c
}

func (p *provider) request(model string) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies[model]
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// pieces cuts a text into pieces of n bytes.
func pieces(s string, n int) (list []string) {
	for len(s) > n {
		list, s = append(list, s[:n]), s[n:]
	}
	return append(list, s)
}

// issue gives an answer of the Responses API an id of its own, under which it can
// be continued.
func (p *provider) issue(s *script) *script {
	if s.api != "responses" {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := fmt.Sprintf("resp_%d", len(p.issued)+2)
	p.issued[id] = s
	own := *s
	own.events = slices.Clone(s.events)
	for i, e := range own.events {
		own.events[i] = strings.ReplaceAll(e, "resp_1", id)
	}
	own.whole = strings.ReplaceAll(s.whole, "resp_1", id)
	return &own
}

// strict is strictHistory, of a response that is continued with what it said.
func (p *provider) strict(s *script, body []byte) error {
	var request struct {
		Previous string `json:"previous_response_id"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	if request.Previous == "" {
		return strictHistory(s.api, body, nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	previous := p.issued[request.Previous]
	if previous == nil {
		return fmt.Errorf("no response %q", request.Previous)
	}
	return strictHistory(s.api, body, previous.said)
}

// width is how long the pieces of a call's arguments are: short ones, but not more than
// about 64.
func width(args string) int { return max(7, len(args)/64) }
