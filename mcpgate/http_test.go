package mcpgate_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/mcpgate"
)

// site is a gateway over HTTP, with tokens for anna and bert.
type site struct {
	*httptest.Server
	h *mcpgate.Handler
}

func (b *bench) http(t *testing.T) *site { return b.sharing(t, nil) }

// sharing is a gateway over HTTP that shares its sessions with others; nil for one that does not.
func (b *bench) sharing(t *testing.T, sessions *sharedSessions) *site {
	t.Helper()
	var tokens []mcpgate.Token
	for _, name := range []string{"anna", "bert"} {
		tokens = append(tokens, mcpgate.Token{Name: stopgate.Principal(name), SHA256: sha256.Sum256([]byte(name + "-token"))})
	}
	o := mcpgate.HTTPOptions{Tokens: tokens, Hosts: []string{"127.0.0.1", "localhost"}}
	if sessions != nil {
		o.Sessions = sessions
	}
	h, err := b.g.Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Server: httptest.NewServer(h), h: h}
	t.Cleanup(func() {
		h.Close()
		s.Close()
		s.Client().CloseIdleConnections()
	})
	return s
}

// request sends a request as a client of the revisions does; headers with "" are removed.
func (s *site) request(t testing.TB, method, body string, headers map[string]string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer anna-token"}
	if m, err := jsonrpc.Read([]byte(body)); err == nil && strings.Contains(body, "2026-07-28") {
		set["Mcp-Protocol-Version"], set["Mcp-Method"] = "2026-07-28", m.Method
		for _, name := range []string{"name", "uri"} {
			if v, ok := m.Params.Get(name); ok {
				set["Mcp-Name"] = v.Text()
			}
		}
	}
	for k, v := range headers {
		set[k] = v
	}
	for k, v := range set {
		switch {
		case k == "Host":
			r.Host = v
		case v != "":
			r.Header.Set(k, v)
		}
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func text(t testing.TB, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// post returns the response to a message of one of the two.
func (s *site) post(t testing.TB, who, body string) string {
	t.Helper()
	return text(t, s.request(t, http.MethodPost, body, map[string]string{"Authorization": "Bearer " + who + "-token"}))
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// session opens a session and returns its id.
func (s *site) session(t testing.TB) string {
	t.Helper()
	r := s.request(t, http.MethodPost, initialize, nil)
	body := text(t, r)
	id := r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != 200 || id == "" {
		t.Fatalf("%d %s", r.StatusCode, body)
	}
	ready := s.request(t, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, map[string]string{"Mcp-Session-Id": id})
	if text(t, ready); ready.StatusCode != http.StatusAccepted {
		t.Fatalf("initialized: %d", ready.StatusCode)
	}
	return id
}

// Proves G9, G10: requests from browser pages, with foreign host names, or without a token are
// refused before the message is read.
func TestAccess(t *testing.T) {
	f := newFake(echoTool)
	b := setup(t, free, mcpgate.Settings{Origins: []string{"https://console.example.com"}, Hosts: []string{"mcp.example.com"}}, map[string]*fake{"": f})
	s := b.http(t)
	body := modernCall("1", `{}`, "")
	for _, c := range []struct {
		name    string
		headers map[string]string
		status  int
		code    string
	}{
		{"fine", nil, 200, "ran"},
		{"a page of another origin", map[string]string{"Origin": "https://evil.example.com"}, 403, "origin_rejected"},
		{"a page without an origin", map[string]string{"Origin": "null"}, 403, "origin_rejected"},
		{"a known page", map[string]string{"Origin": "https://console.example.com"}, 200, "ran"},
		{"our own page", map[string]string{"Origin": s.URL}, 200, "ran"},
		{"a rebound name", map[string]string{"Host": "evil.example.com"}, 403, "origin_rejected"},
		{"a rebound name with our port", map[string]string{"Host": "evil.example.com:80"}, 403, "origin_rejected"},
		{"a name that begins like ours", map[string]string{"Host": "localhost.evil.example.com"}, 403, "origin_rejected"},
		{"a page of the rebound name", map[string]string{"Host": "evil.example.com", "Origin": "http://evil.example.com"}, 403, "origin_rejected"},
		{"the public name", map[string]string{"Host": "mcp.example.com"}, 200, "ran"},
		{"no token", map[string]string{"Authorization": ""}, 401, "unauthenticated"},
		{"another token", map[string]string{"Authorization": "Bearer anna-tokem"}, 401, "unauthenticated"},
		{"an empty token", map[string]string{"Authorization": "Bearer "}, 401, "unauthenticated"},
		{"another scheme", map[string]string{"Authorization": "Basic anna-token"}, 401, "unauthenticated"},
	} {
		before := len(f.calls("tools/call"))
		r := s.request(t, http.MethodPost, body, c.headers)
		got := text(t, r)
		if r.StatusCode != c.status || !strings.Contains(got, c.code) {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, got)
		}
		if ran := len(f.calls("tools/call")) > before; ran != (c.status == 200) {
			t.Errorf("%s: ran %t", c.name, ran)
		}
	}
	hasNot(t, f.all(), "anna-token")
	if _, err := b.g.Handler(mcpgate.HTTPOptions{}); err == nil {
		t.Error("a handler without tokens")
	}
	for path, status := range map[string]int{"/k/anna-token/mcp": 200, "/k/x/mcp": 401, "/k//mcp": 401, "/mcp/": 404, "/": 404, "/k/anna-token/": 404} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"} {
			r.Header.Set(k, v)
		}
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, resp); resp.StatusCode != status {
			t.Errorf("%s: %d %s", path, resp.StatusCode, got)
		}
	}
}

// Proves W56: a message whose headers differ from its body is refused; decisions use the body.
func TestMirroredHeaders(t *testing.T) {
	tool := `{"name":"echo","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"o":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}}`
	bad := `{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"no good"}}}}`
	f := newFake(tool, bad)
	sent := make(chan map[string]string, 100)
	f.answers["tools/call"] = func(_ context.Context, _ *fakeLink, c *link.Call, _ *jsonrpc.Message) (string, error) {
		sent <- c.Headers
		return `{"content":[],"resultType":"complete"}`, nil
	}
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	body := modernCall("1", `{"region":"M\u00fcnchen","n":7.0,"o":{"b":true}}`, "")
	right := map[string]string{"Mcp-Param-Region": "=?base64?TcO8bmNoZW4=?=", "Mcp-Param-N": "7", "Mcp-Param-B": "true"}
	with := func(change map[string]string) map[string]string {
		all := map[string]string{}
		for k, v := range right {
			all[k] = v
		}
		for k, v := range change {
			all[k] = v
		}
		return all
	}
	if r := s.request(t, http.MethodPost, body, right); r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, text(t, r))
	} else {
		text(t, r)
	}
	got := <-sent
	for k, v := range map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "echo", "Mcp-Param-Region": "=?base64?TcO8bmNoZW4=?=", "Mcp-Param-N": "7", "Mcp-Param-B": "true"} {
		if got[k] != v {
			t.Errorf("the server gets %s: %q", k, got[k])
		}
	}
	for name, change := range map[string]map[string]string{
		"another method":       {"Mcp-Method": "tools/list"},
		"no method":            {"Mcp-Method": ""},
		"another name":         {"Mcp-Name": "other"},
		"no name":              {"Mcp-Name": ""},
		"another version":      {"Mcp-Protocol-Version": "2025-11-25"},
		"no version":           {"Mcp-Protocol-Version": ""},
		"another argument":     {"Mcp-Param-Region": "Berlin"},
		"no argument":          {"Mcp-Param-Region": ""},
		"another number":       {"Mcp-Param-N": "8"},
		"a number that is not": {"Mcp-Param-N": "7x"},
		"no base64":            {"Mcp-Param-Region": "=?base64?***?="},
		"another boolean":      {"Mcp-Param-B": "false"},
	} {
		r := s.request(t, http.MethodPost, body, with(change))
		if got := text(t, r); r.StatusCode != 400 || !strings.Contains(got, "-32020") {
			t.Errorf("%s: %d %s", name, r.StatusCode, got)
		}
	}
	r := s.request(t, http.MethodPost, modernCall("1", `{"region":null}`, ""), map[string]string{"Mcp-Param-N": "1"})
	has(t, text(t, r), "-32020")
	r = s.request(t, http.MethodPost, modernCall("1", `{}`, ""), nil)
	has(t, text(t, r), "complete")
	// A tool with invalid marks is not offered over HTTP.
	hasNot(t, s.post(t, "anna", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta+`}}`), `"bad"`)
	has(t, s.post(t, "anna", strings.Replace(modernCall("1", `{}`, ""), `"echo"`, `"bad"`, 1)), "Unknown tool: bad")
	if n := len(f.calls("tools/call")); n != 2 {
		t.Errorf("%d calls reached the server", n)
	}
}

// Revisions, and invalid requests.
func TestHTTPRefusals(t *testing.T) {
	f := newFake(echoTool)
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	id := s.session(t)
	for _, c := range []struct {
		name, method, body string
		headers            map[string]string
		status             int
		want               string
	}{
		{"an unknown revision", "POST", strings.Replace(modernCall("1", `{}`, ""), "2026-07-28", "2027-01-01", 1), map[string]string{"Mcp-Protocol-Version": "2027-01-01", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}, 400, `-32022`},
		{"an odd revision", "POST", call("1", "echo", `{}`), map[string]string{"Mcp-Protocol-Version": "1999-01-01"}, 400, `"supported":["2025-03-26","2025-06-18","2025-11-25","2026-07-28"]`},
		{"no session", "POST", call("1", "echo", `{}`), nil, 400, "Mcp-Session-Id"},
		{"an unknown session", "POST", call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": "x"}, 404, ""},
		{"the session of another principal", "POST", call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": id, "Authorization": "Bearer bert-token"}, 404, ""},
		{"initialized twice", "POST", initialize, map[string]string{"Mcp-Session-Id": id}, 400, "already"},
		{"a batch", "POST", `[` + initialize + `]`, nil, 400, "-32600"},
		{"no JSON", "POST", `{`, nil, 400, "-32700"},
		{"a duplicate name", "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"rm"}}`, nil, 400, "-32600"},
		{"another type", "POST", initialize, map[string]string{"Content-Type": "text/plain"}, 415, ""},
		{"an encoding", "POST", initialize, map[string]string{"Content-Encoding": "gzip"}, 415, ""},
		{"half of what we answer", "POST", initialize, map[string]string{"Accept": "application/json"}, 406, ""},
		{"GET without a session", "GET", "", nil, 405, ""},
		{"GET in the revision without sessions", "GET", "", map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2026-07-28"}, 405, ""},
		{"GET of another's session", "GET", "", map[string]string{"Mcp-Session-Id": id, "Authorization": "Bearer bert-token"}, 404, ""},
		{"GET of the past", "GET", "", map[string]string{"Mcp-Session-Id": id, "Last-Event-ID": "x"}, 400, ""},
		{"PUT", "PUT", initialize, nil, 405, ""},
		{"_meta without capabilities", "POST", strings.Replace(modernCall("1", `{}`, ""), `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`, "", 1), nil, 400, "-32602"},
		{"initialize without sessions", "POST", strings.Replace(modernCall("1", `{}`, ""), "tools/call", "initialize", 1), nil, 404, "-32601"},
		{"the end of another's session", "DELETE", "", map[string]string{"Mcp-Session-Id": id, "Authorization": "Bearer bert-token"}, 404, ""},
		{"the end", "DELETE", "", map[string]string{"Mcp-Session-Id": id}, 204, ""},
		{"after the end", "POST", call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": id}, 404, ""},
	} {
		r := s.request(t, c.method, c.body, c.headers)
		if got := text(t, r); r.StatusCode != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.name, r.StatusCode, got)
		}
	}
	if n := len(f.calls("tools/call")); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

// Messages of a server during a request are on the stream of the request, other messages on that of
// the session.
func TestHTTPStreams(t *testing.T) {
	f := newFake(echoTool)
	links := make(chan *fakeLink, 1)
	release := make(chan struct{})
	f.answers["tools/call"] = func(_ context.Context, l *fakeLink, c *link.Call, _ *jsonrpc.Message) (string, error) {
		m, _ := jsonrpc.Read([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"one"}}`))
		c.OnMessage(m)
		links <- l
		<-release
		return `{"content":[]}`, nil
	}
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	id := s.session(t)
	own := s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": id})
	defer own.Body.Close()
	stream := bufio.NewReader(own.Body)
	if line, err := stream.ReadString('\n'); err != nil || line != ": open\n" {
		t.Fatalf("%q, %v", line, err)
	}
	r := s.request(t, http.MethodPost, call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": id})
	l := <-links
	l.say(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	for {
		line, err := stream.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "data:") {
			has(t, line, "list_changed")
			break
		}
	}
	close(release)
	got := text(t, r)
	want(t, got, "id: s1-0\nretry: 1000\ndata: \n\nid: s1-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"one\"}}\n\n"+
		"id: s1-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n")
	if second := s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": id}); second.StatusCode != http.StatusConflict {
		t.Errorf("a second stream: %d", second.StatusCode)
	} else {
		text(t, second)
	}
}

// Closing the stream cancels the request only in the revision without sessions.
func TestClientGone(t *testing.T) {
	for _, modern := range []bool{true, false} {
		f := newFake(echoTool)
		started, ended := make(chan struct{}), make(chan error, 1)
		release := make(chan struct{})
		f.answers["tools/call"] = func(ctx context.Context, _ *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
			close(started)
			select {
			case <-ctx.Done():
				ended <- context.Cause(ctx)
				return "", context.Cause(ctx)
			case <-release:
				ended <- nil
				return `{"content":[]}`, nil
			}
		}
		b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
		s := b.http(t)
		body, headers := modernCall("1", `{}`, ""), map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
		if !modern {
			body, headers = call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": s.session(t)}
		}
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "*/*")
		r.Header.Set("Authorization", "Bearer anna-token")
		for k, v := range headers {
			r.Header.Set(k, v)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := s.Client().Do(r); err == nil {
				resp.Body.Close()
			}
		}()
		<-started
		cancel()
		<-gone
		if !modern {
			close(release)
		}
		if err := <-ended; (err != nil) != modern {
			t.Errorf("modern %t: the server's request ended with %v", modern, err)
		}
		until(t, "the result is on record", func() bool { return len(b.rows.Events(stopgate.AuditResult)) == 1 })
	}
}

// An unused session ends, with its connection to the server; a waiting client gets keepalives.
func TestIdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(echoTool)
		f.answers["tools/call"] = func(ctx context.Context, _ *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
			select {
			case <-time.After(40 * time.Second):
				return `{"content":[]}`, nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f})
		h, err := b.g.Handler(mcpgate.HTTPOptions{Tokens: []mcpgate.Token{{Name: "anna", SHA256: sha256.Sum256([]byte("anna-token"))}}, Hosts: []string{"example.com"}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		post := func(body, id string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
			for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "Authorization": "Bearer anna-token", "Mcp-Session-Id": id} {
				if v != "" {
					r.Header.Set(k, v)
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		id := post(initialize, "").Header().Get("Mcp-Session-Id")
		w := post(call("1", "echo", `{}`), id)
		want(t, w.Body.String(), "id: s1-0\nretry: 1000\ndata: \n\n: stopgate\n: stopgate\nid: s1-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n")
		time.Sleep(29 * time.Minute)
		if w := post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, id); w.Code != 200 {
			t.Errorf("before: %d", w.Code)
		}
		time.Sleep(32 * time.Minute)
		if w := post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, id); w.Code != 404 {
			t.Errorf("after: %d", w.Code)
		}
	})
}

// A client whose connection broke resumes the stream of its request, and gets the response there;
// no other client can.
func TestResume(t *testing.T) {
	f := newFake(echoTool)
	started, release := make(chan struct{}), make(chan struct{})
	f.answers["tools/call"] = func(_ context.Context, _ *fakeLink, c *link.Call, _ *jsonrpc.Message) (string, error) {
		m, _ := jsonrpc.Read([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}`))
		c.OnMessage(m)
		close(started)
		<-release
		c.OnMessage(m)
		return `{"content":[]}`, nil
	}
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	id := s.session(t)
	r := s.request(t, http.MethodPost, call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": id})
	<-started
	lines := bufio.NewReader(r.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "id: s1-1") {
			break
		}
	}
	r.Body.Close()
	for event, status := range map[string]int{"s9-1": 400, "s1-7": 400, "x": 400, "s1--1": 400} {
		if got := s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": id, "Last-Event-ID": event}); got.StatusCode != status {
			t.Errorf("%s: %d", event, got.StatusCode)
		} else {
			text(t, got)
		}
	}
	again := s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": id, "Last-Event-ID": "s1-1"})
	close(release)
	want(t, text(t, again), ": open\n\nid: s1-2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"n\":1}}\n\n"+
		"id: s1-3\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n")
	// From the start, too, after the end.
	has(t, text(t, s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": id, "Last-Event-ID": "s1-0"})), "id: s1-1\n", "id: s1-3\n")
}

// Proves FM11 for MCP over HTTP: tokens change while sessions continue.
func TestTokensChange(t *testing.T) {
	b := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": newFake(echoTool)})
	s := b.http(t)
	id := s.session(t)
	list := func(who string) int {
		t.Helper()
		r := s.request(t, http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, map[string]string{"Mcp-Session-Id": id, "Authorization": "Bearer " + who + "-token"})
		text(t, r)
		return r.StatusCode
	}
	if got := list("anna"); got != 200 {
		t.Fatal(got)
	}
	s.h.SetTokens([]mcpgate.Token{{Name: "anna", SHA256: sha256.Sum256([]byte("new-token"))}})
	if got := list("anna"); got != http.StatusUnauthorized {
		t.Errorf("the old token: %d", got)
	}
	if got := list("new"); got != 200 {
		t.Errorf("the new token: %d", got)
	}
}

// Proves G10: if a request has two values of an identifying header, neither is used.
func TestDuplicateHeaders(t *testing.T) {
	f := newFake(echoTool)
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	id := s.session(t)
	for _, c := range []struct {
		name, method, path string
		change             func(http.Header)
		status             int
	}{
		{"anna in the path", "POST", "/k/anna-token/mcp", func(h http.Header) { h.Del("Authorization") }, 200},
		{"anna in both places", "POST", "/k/anna-token/mcp", func(http.Header) {}, 200},
		{"anna in the path, bert beside", "POST", "/k/anna-token/mcp", func(h http.Header) { h.Set("Authorization", "Bearer bert-token") }, 401},
		{"anna in the path, nobody beside", "POST", "/k/anna-token/mcp", func(h http.Header) { h.Set("Authorization", "Bearer x") }, 401},
		{"anna in the path, a proxy's password beside", "POST", "/k/anna-token/mcp", func(h http.Header) { h.Set("Authorization", "Basic eDp5") }, 200},
		{"anna in the path, no token beside", "POST", "/k/anna-token/mcp", func(h http.Header) { h.Set("Authorization", "Bearer ") }, 401},
		{"a password alone", "POST", "/mcp", func(h http.Header) { h.Set("Authorization", "Basic anna-token") }, 401},
		{"nobody in the path, anna beside", "POST", "/k//mcp", func(http.Header) {}, 401},
		{"anna twice", "POST", "/mcp", func(h http.Header) { h.Add("Authorization", "Bearer anna-token") }, 401},
		{"anna and bert", "POST", "/mcp", func(h http.Header) { h.Add("Authorization", "Bearer bert-token") }, 401},
		{"two sessions", "POST", "/mcp", func(h http.Header) { h.Add("Mcp-Session-Id", "x") }, 400},
		{"two sessions, a stream", "GET", "/mcp", func(h http.Header) { h.Add("Mcp-Session-Id", "x") }, 400},
		{"two sessions, the end", "DELETE", "/mcp", func(h http.Header) { h.Add("Mcp-Session-Id", "x") }, 400},
		{"two kinds of content", "POST", "/mcp", func(h http.Header) { h.Add("Content-Type", "text/plain") }, 415},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, strings.NewReader(call("1", "echo", `{}`)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Authorization": {"Bearer anna-token"}, "Mcp-Session-Id": {id}}
		c.change(r.Header)
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, resp); resp.StatusCode != c.status {
			t.Errorf("%s: %d %s", c.name, resp.StatusCode, got)
		}
	}
}

// Proves FM14: if every session is busy a new one is refused with a hint, until one ends.
func TestSessionLimit(t *testing.T) {
	f := newFake(echoTool)
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	var last *http.Response
	for range 256 {
		r := s.request(t, http.MethodPost, initialize, nil)
		if text(t, r); r.StatusCode != 200 {
			t.Fatalf("status %d", r.StatusCode)
		}
		last = s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": r.Header.Get("Mcp-Session-Id")})
		defer last.Body.Close()
		if last.StatusCode != 200 {
			t.Fatalf("status %d", last.StatusCode)
		}
	}
	r := s.request(t, http.MethodPost, initialize, nil)
	if got := text(t, r); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || !strings.Contains(got, "DELETE") || !strings.Contains(got, "overloaded") {
		t.Errorf("%d %v %s", r.StatusCode, r.Header, got)
	}
	last.Body.Close()
	for deadline := time.Now().Add(10 * time.Second); ; {
		r := s.request(t, http.MethodPost, initialize, nil)
		if text(t, r); r.StatusCode == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("status %d although a session is at rest", r.StatusCode)
		}
	}
}

// Proves G8, FM14: a principal that opens many sessions, each with its own servers, loses its least
// recently used ones, and affects no other principal.
func TestSessionLimitOfPrincipal(t *testing.T) {
	f := newFake(echoTool)
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	of := func(who string) string {
		r := s.request(t, http.MethodPost, initialize, map[string]string{"Authorization": "Bearer " + who + "-token"})
		if text(t, r); r.StatusCode != 200 {
			t.Fatalf("%s: %d", who, r.StatusCode)
		}
		return r.Header.Get("Mcp-Session-Id")
	}
	alive := func(who, id string) bool {
		r := s.request(t, http.MethodPost, `{"jsonrpc":"2.0","id":9,"method":"ping"}`, map[string]string{"Authorization": "Bearer " + who + "-token", "Mcp-Session-Id": id})
		text(t, r)
		return r.StatusCode == 200
	}
	bert := of("bert")
	first, second := of("anna"), of("anna")
	for range 254 {
		of("anna")
	}
	if !alive("anna", first) || !alive("anna", second) { // now they are the most recently used
		t.Error("256 sessions are not too many")
	}
	last := of("anna")
	if !alive("anna", first) || !alive("anna", second) || !alive("anna", last) || !alive("bert", bert) {
		t.Error("another session ended than the one that was used least")
	}
	// Sessions of the revision without sessions count, too.
	r := s.request(t, http.MethodPost, modernCall("1", `{}`, ""), map[string]string{"X-Stopgate-Session": "mine"})
	if got := text(t, r); r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, got)
	}
	if !alive("anna", first) || !alive("bert", bert) {
		t.Error("a session that was used ended")
	}
}

// Proves G8: repeated notifications of list changes are forwarded once, until the client requests
// the list.
func TestRepeatedListChanges(t *testing.T) {
	f := newFake(echoTool)
	links := make(chan *fakeLink, 2)
	f.answers["tools/call"] = func(_ context.Context, l *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
		links <- l
		return `{"content":[]}`, nil
	}
	c := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).stdio()
	c.hello(`{}`)
	c.ask(call("1", "echo", `{}`))
	l := <-links
	const tools = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	const prompts = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
	for range 100 {
		l.say(t, tools)
	}
	l.say(t, prompts)
	want(t, c.next(), tools)
	want(t, c.next(), prompts)
	has(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `"echo"`)
	l.say(t, prompts)
	l.say(t, tools)
	want(t, c.next(), tools)
}

// Proves G8: a client that opens its stream again is notified of list changes again, because the
// earlier notification may have been lost.
func TestListChangeAfterReconnect(t *testing.T) {
	f := newFake(echoTool)
	links := make(chan *fakeLink, 1)
	f.answers["tools/call"] = func(_ context.Context, l *fakeLink, _ *link.Call, _ *jsonrpc.Message) (string, error) {
		links <- l
		return `{"content":[]}`, nil
	}
	s := setup(t, free, mcpgate.Settings{}, map[string]*fake{"": f}).http(t)
	id := s.session(t)
	text(t, s.request(t, http.MethodPost, call("1", "echo", `{}`), map[string]string{"Mcp-Session-Id": id}))
	l := <-links
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	const level = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
	hears := func(wanted ...string) {
		t.Helper()
		var own *http.Response
		until(t, "the stream opens", func() bool {
			own = s.request(t, http.MethodGet, "", map[string]string{"Mcp-Session-Id": id})
			if own.StatusCode != 200 {
				own.Body.Close()
			}
			return own.StatusCode == 200
		})
		defer own.Body.Close()
		stream := bufio.NewReader(own.Body)
		for line := ""; line != ": open\n"; {
			var err error
			if line, err = stream.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		l.say(t, changed)
		l.say(t, changed)
		l.say(t, level)
		for _, w := range wanted {
			for {
				line, err := stream.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					want(t, strings.TrimSpace(data), w)
					break
				}
			}
		}
	}
	hears(changed, level)
	hears(changed, level)
}
