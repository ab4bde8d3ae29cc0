package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
)

// allowAll is the policy most tests use: tools that nothing denies may run.
const allowAll = "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n"

// denying denies every call of some tools and allows all others.
func denying(tools ...string) string {
	text := allowAll
	for _, tool := range tools {
		text += "[tools." + tool + ".policy]\nrun = \"deny\"\n"
	}
	return text
}

// log is a recorder in memory.
type log struct {
	mu   sync.Mutex
	rows []stopgate.Record
}

func (*log) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (l *log) Record(_ context.Context, r *stopgate.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, *r)
	return nil
}

// decisions are the decision rows in short form, in the order they were written.
func (l *log) decisions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, r := range l.rows {
		if r.Kind == stopgate.RecordDecision {
			list = append(list, fmt.Sprintf("%s %s %s", r.Tool, r.Status, r.Code))
		}
	}
	return list
}

// events counts the event rows of a kind.
func (l *log) events(kind stopgate.AuditEvent) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.rows {
		if r.Kind == stopgate.RecordEvent && r.Event == kind {
			n++
		}
	}
	return n
}

// wait waits until the log holds n decisions: a row may be written after the
// client has its answer.
func (l *log) wait(t *testing.T, n int) []string {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		list := l.decisions()
		if len(list) >= n || time.Now().After(deadline) {
			if len(list) != n {
				t.Errorf("%d decision rows, want %d: %q", len(list), n, list)
			}
			return list
		}
		time.Sleep(time.Millisecond)
	}
}

// rig is a provider, a gateway and a client, over real sockets.
type rig struct {
	t      *testing.T
	gw     *gateway.Gateway
	url    string // of the gateway
	up     string // of the provider
	client *http.Client
	log    *log
}

// newRig serves both APIs of a provider through a gateway. change may adapt the
// options.
func newRig(t *testing.T, policy string, provider http.Handler, change func(*gateway.Options)) *rig {
	t.Helper()
	r := &rig{t: t, log: &log{}}
	up := httptest.NewServer(provider)
	t.Cleanup(up.Close)
	r.up = up.URL
	o := gateway.Options{
		Gate: newGate(t, policy, r.log), Settings: gateway.DefaultSettings(),
		Upstreams: []gateway.Upstream{{ID: "test", BaseURL: up.URL}},
	}
	if change != nil {
		change(&o)
	}
	gw, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gw.Close)
	r.gw = gw
	srv := httptest.NewServer(gw)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	r.client = &http.Client{Transport: transport, Timeout: 20 * time.Second}
	return r
}

// answer is what a client received.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body: the stream was broken off

	trailer http.Header
}

func (r *rig) post(path, body string) answer {
	r.t.Helper()
	res, err := r.client.Post(r.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(text), err, res.Trailer}
}

// The paths of the two dialects.
const (
	chatPath      = "/v1/chat/completions"
	anthropicPath = "/v1/messages"
)

// chatRequest is a request that declares the tools a, b and c, each with one
// string parameter.
func chatRequest(stream bool) string {
	var tools []string
	for _, name := range []string{"a", "b", "c"} {
		tools = append(tools, `{"type":"function","function":{"name":"`+name+`","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`)
	}
	return fmt.Sprintf(`{"model":"m","stream":%t,"messages":[{"role":"user","content":"x"}],"tools":[%s]}`, stream, strings.Join(tools, ","))
}

func anthropicRequest(stream bool) string {
	var tools []string
	for _, name := range []string{"a", "b", "c"} {
		tools = append(tools, `{"name":"`+name+`","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`)
	}
	return fmt.Sprintf(`{"model":"m","max_tokens":99,"stream":%t,"messages":[{"role":"user","content":"x"}],"tools":[%s]}`, stream, strings.Join(tools, ","))
}

// script is a provider that sends one body in the pieces that split makes of it.
type script struct {
	body  string
	kind  string // content type; default: event stream
	split func(string) []string
	cut   bool // break the connection off behind the last piece
}

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	kind := s.kind
	if kind == "" {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	pieces := []string{s.body}
	if s.split != nil {
		pieces = s.split(s.body)
	}
	rc := http.NewResponseController(w)
	for _, piece := range pieces {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
		_ = rc.Flush()
	}
	if s.cut {
		panic(http.ErrAbortHandler)
	}
}

// perEvent cuts a body behind every event.
func perEvent(body string) []string { return strings.SplitAfter(body, "\n\n") }

// perByte cuts a body behind every byte.
func perByte(body string) []string { return strings.Split(body, "") }

// whole does not cut.
func whole(body string) []string { return []string{body} }

// crlf ends every line with CRLF.
func crlf(body string) []string { return []string{strings.ReplaceAll(body, "\n", "\r\n")} }

func benchGateway(upstream string) http.Handler {
	return newBenchGateway(gateway.Upstream{ID: "test", BaseURL: upstream})
}

func benchGatewayOver(t http.RoundTripper) http.Handler {
	return newBenchGateway(gateway.Upstream{ID: "test", Transport: t})
}

func newBenchGateway(u gateway.Upstream) http.Handler {
	gw, err := gateway.New(gateway.Options{Gate: newBenchGate(), Settings: gateway.DefaultSettings(), Upstreams: []gateway.Upstream{u}})
	if err != nil {
		panic(err)
	}
	return gw
}

// chatEvent is one chunk of a Chat stream.
func chatEvent(delta, finish string) string {
	return `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

const chatDone = "data: [DONE]\n\n"

// chatCall is a whole call in two chunks.
func chatCall(index int, id, name, args string) string {
	half := len(args) / 2
	return chatEvent(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}`, index, id, name, args[:half]), "null") +
		chatEvent(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%q}}]}`, index, args[half:]), "null")
}

// chatStream is text, then calls, then the finish.
func chatStream(finish string, calls ...string) string {
	return chatEvent(`{"role":"assistant","content":"hi"}`, "null") + strings.Join(calls, "") + chatEvent(`{}`, `"`+finish+`"`) + chatDone
}

func mustContain(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("%q is missing in\n%s", part, body)
		}
	}
}

func mustLack(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(body, part) {
			t.Errorf("%q stands in\n%s", part, body)
		}
	}
}
