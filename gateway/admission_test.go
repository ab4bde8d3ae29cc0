package gateway_test

import (
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
)

// unreachable is a provider that fails the test if a request reaches it.
func unreachable(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a request reached the provider: %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusTeapot)
	})
}

// send sends one request to the gateway.
func (r *rig) send(method, path, body string, header map[string]string) answer {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for name, value := range header {
		if name == "Host" {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(text), err, res.Trailer}
}

// Proves G9, S46: foreign origins and hosts are refused.
func TestOriginAndHost(t *testing.T) {
	for _, test := range []struct {
		name   string
		header map[string]string
		status int
	}{
		{"no origin", nil, 200},
		{"listed origin", map[string]string{"Origin": "https://app.example"}, 200},
		{"other origin", map[string]string{"Origin": "https://evil.example"}, 403},
		{"null origin", map[string]string{"Origin": "null"}, 403},
		{"origin of another port", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"origin with credentials", map[string]string{"Origin": "https://app.example@evil.example"}, 403},
		{"rebound host", map[string]string{"Host": "evil.example"}, 403},
		{"rebound host with port", map[string]string{"Host": "evil.example:8788"}, 403},
		{"host that begins like loopback", map[string]string{"Host": "127.0.0.1.evil.example"}, 403},
		{"host that ends like loopback", map[string]string{"Host": "evil-localhost"}, 403},
		{"localhost", map[string]string{"Host": "localhost:8788"}, 200},
		{"IPv6 loopback", map[string]string{"Host": "[::1]:8788"}, 200},
		{"listed host", map[string]string{"Host": "Gate.Example:8788"}, 200},
		{"same origin", map[string]string{"Origin": "http://localhost:8788", "Host": "localhost:8788"}, 200},
		{"rebound page of its own origin", map[string]string{"Origin": "http://evil.example", "Host": "evil.example"}, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			var provider http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"data":[]}`) })
			if test.status != 200 {
				provider = unreachable(t)
			}
			r := newRig(t, allowAll, provider, func(o *gateway.Options) {
				o.Settings.Hosts = []string{"gate.example"}
				o.Settings.Origins = []string{"https://app.example"}
			})
			a := r.send("GET", "/v1/models", "", test.header)
			if a.status != test.status {
				t.Errorf("status %d, want %d: %s", a.status, test.status, a.body)
			}
			if test.status == 403 {
				mustContain(t, a.body, `"code":"origin_rejected"`)
				if a.header.Get("X-Should-Retry") != "false" {
					t.Error("a client may retry this")
				}
			}
		})
	}
}

// Proves S46: the token is accepted in each of its places, and never sent upstream.
func TestToken(t *testing.T) {
	const token = "sg_secret-of-the-gate"
	for _, test := range []struct {
		name, path string
		header     map[string]string
		status     int
	}{
		{"none", "/v1/models", nil, 401},
		{"wrong", "/v1/models", map[string]string{"X-Stopgate-Token": "sg_other"}, 401},
		{"own header", "/v1/models", map[string]string{"X-Stopgate-Token": token}, 200},
		{"bearer", "/v1/models", map[string]string{"Authorization": "Bearer " + token}, 200},
		{"API key", "/v1/models", map[string]string{"X-Api-Key": token}, 200},
		{"path", "/k/" + token + "/v1/models", nil, 200},
		{"wrong path", "/k/sg_other/v1/models", nil, 401},
		{"a provider's key is no token", "/v1/models", map[string]string{"Authorization": "Bearer sk-1"}, 401},
		{"token and a provider's key", "/v1/models", map[string]string{"X-Stopgate-Token": token, "X-Api-Key": "sk-2"}, 200},
		{"lower case scheme", "/v1/models", map[string]string{"Authorization": "bearer  " + token}, 200},
		{"in every place", "/k/" + token + "/v1/models", map[string]string{"X-Stopgate-Token": token, "Authorization": "Bearer " + token, "X-Api-Key": token, "Api-Key": token}, 200},
		{"path, and a page that names it", "/k/" + token + "/v1/models", map[string]string{"Referer": "http://localhost/k/" + token + "/"}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var all strings.Builder
				r.Header.Write(&all)
				if strings.Contains(all.String()+r.URL.String(), "sg_") {
					t.Errorf("the token was sent on: %s %s", r.URL, all.String())
				}
				io.WriteString(w, "key="+r.Header.Get("X-Api-Key"))
			}), func(o *gateway.Options) { o.Token = token })
			a := r.send("GET", test.path, "", test.header)
			if a.status != test.status {
				t.Errorf("status %d, want %d: %s", a.status, test.status, a.body)
			}
			if test.name == "token and a provider's key" {
				mustContain(t, a.body, "key=sk-2")
			}
			if test.status == 401 {
				mustContain(t, a.body, `"code":"unauthenticated"`)
				if !strings.HasPrefix(test.name, "wrong") {
					mustContain(t, a.body, "X-Stopgate-Token", "/k/TOKEN")
				}
				if got := a.header.Get("WWW-Authenticate"); got != `Bearer realm="stopgate"` {
					t.Errorf("WWW-Authenticate: %q", got)
				}
			}
		})
	}
}

// Proves G10, S46: a request with two tokens is refused, wherever they are and in any order of
// headers.
func TestTwoTokens(t *testing.T) {
	seen := make(chan string, 1)
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- strings.Join(r.Header["Authorization"], "|")
		io.WriteString(w, "{}")
	}), func(o *gateway.Options) {
		for _, name := range []string{"alice", "bob"} {
			o.Tokens = append(o.Tokens, gateway.Token{Name: stopgate.Principal(name), SHA256: sha256.Sum256([]byte("sg_" + name))})
		}
	})
	for name, test := range map[string]struct {
		path   string
		header http.Header
		status int
		sent   string
	}{
		"bearer and key":             {"/v1/models", http.Header{"Authorization": {"Bearer sg_alice"}, "X-Api-Key": {"sg_bob"}}, 401, ""},
		"path and bearer":            {"/k/sg_alice/v1/models", http.Header{"Authorization": {"Bearer sg_bob"}}, 401, ""},
		"no token in the path":       {"/k//v1/models", http.Header{"Authorization": {"Bearer sg_bob"}}, 401, ""},
		"header and bearer":          {"/v1/models", http.Header{"X-Stopgate-Token": {"sg_alice"}, "Authorization": {"Bearer sg_bob"}}, 401, ""},
		"two headers":                {"/v1/models", http.Header{"X-Stopgate-Token": {"sg_alice", "sg_bob"}}, 401, ""},
		"two bearers":                {"/v1/models", http.Header{"Authorization": {"Bearer sg_alice", "Bearer sg_bob"}}, 401, ""},
		"a good one and a wrong one": {"/v1/models", http.Header{"Authorization": {"Bearer sg_alice", "Bearer sg_x"}}, 401, ""},
		"twice the same":             {"/v1/models", http.Header{"X-Stopgate-Token": {"sg_alice"}, "Authorization": {"Bearer sg_alice"}}, 200, ""},
		"beside a provider's key":    {"/v1/models", http.Header{"Authorization": {"Bearer sk-1", "Bearer sg_alice"}}, 200, "Bearer sk-1"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest("GET", r.url+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = test.header
			res, err := r.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != test.status {
				t.Errorf("status %d, want %d", res.StatusCode, test.status)
			}
			if res.StatusCode == 200 {
				if got := <-seen; got != test.sent {
					t.Errorf("the provider received %q, want %q", got, test.sent)
				}
			}
		})
	}
}

// Proves S46: a gate token is not sent to the provider, even if this gate requires none.
func TestUnusedTokenIsRemoved(t *testing.T) {
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Authorization")+"|"+r.Header.Get("X-Api-Key"))
	}), nil)
	if a := r.send("GET", "/v1/models", "", map[string]string{"Authorization": "Bearer sg_other", "X-Api-Key": "sk-1"}); a.body != "|sk-1" {
		t.Errorf("the provider received %q", a.body)
	}
}

// Proves F16, V3-27: unknown routes are refused.
func TestRoutes(t *testing.T) {
	reached := ""
	provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = r.Method + " " + r.URL.RequestURI()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{}`)
	})
	r := newRig(t, allowAll, provider, func(o *gateway.Options) { o.Settings.Passthrough = []string{"GET /v1/files/{id}/content"} })
	for _, test := range []struct {
		method, path string
		passes       bool
	}{
		{"GET", "/v1/models", true},
		{"GET", "/v1/models?limit=3", true},
		{"GET", "/v1/models/gpt-x", true},
		{"POST", "/v1/embeddings", true},
		{"POST", "/v1/messages/count_tokens", true},
		{"GET", "/v1/files/f1/content", true},
		{"GET", "/v1/files/f1", false},
		{"POST", "/v1/files/f1/content", false},
		{"GET", "/v1/files/../content", false},
		{"GET", "/v1/files/%2e%2e/content", false},
		{"GET", "/v1/files/a%2fb/content", false},
		{"GET", "/v1//models", false},
		{"GET", "/v1/models/", false},
		{"GET", "/v1/models/a/b", false},
		{"GET", "/v1/models/..", false},
		{"GET", "/v1/chat/completions", false},
		{"GET", "/v1/chat/completions/x", false},
		{"POST", "/v1/chat/completions/", false},
		{"POST", "/V1/chat/completions", false},
		{"POST", "/v1/chat%2Fcompletions", false},
		{"POST", "/v1/responses/input_tokens", true},
		{"POST", "/v1/responses/compact", true},
		{"GET", "/v1/responses", false},
		{"POST", "/v1/responses/resp_1/cancel", false},
		{"POST", "/v1/conversations", false},
		{"GET", "/v1/responses/resp_1", false},
		{"POST", "/v1/batches", false},
		{"GET", "/v1/realtime", false},
		{"POST", "/anthropic/v1/messages", false},
		{"OPTIONS", "/v1/models", false},
		{"CONNECT", "/v1/models", false},
		{"GET", "/", false},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			reached = ""
			body := ""
			if test.method == "POST" {
				body = `{"model":"m","messages":[]}`
			}
			a := r.send(test.method, test.path, body, nil)
			if test.passes {
				if a.status != 200 || reached != test.method+" "+test.path {
					t.Errorf("status %d, reached %q", a.status, reached)
				}
				return
			}
			if a.status != 404 || reached != "" {
				t.Errorf("status %d, reached %q", a.status, reached)
			}
			mustContain(t, a.body, `"code":"route_unknown"`)
		})
	}
	if n := r.log.events("not_evaluated"); n != 1 {
		t.Errorf("%d rows say not_evaluated, want 1: only the configured route passes unjudged", n)
	}
}

// Proves W48: a request without a route gets the list of routes, and the missing part of its base
// URL, in the form of its dialect and without text of its own.
func TestUnknownRoutes(t *testing.T) {
	const routes = "This route is not served. Tool calls are judged at POST /v1/chat/completions, /v1/responses, /v1/messages and /v1beta/models/{model}:generateContent; [gateway] passthrough opens others."
	r := newRig(t, allowAll, unreachable(t), nil)
	for _, c := range []struct{ method, path, says string }{
		{"POST", "/v1/audio/speech", routes},
		{"POST", "/", routes},
		{"GET", "/v1/responses", routes + " This one takes POST only."},
		{"POST", "/v1/v1/messages", routes + " This client wants a base URL without /v1."},
		{"POST", "/chat/completions", routes + " This client wants a base URL that ends in /v1."},
		{"GET", "/models", routes + " This client wants a base URL that ends in /v1."},
		{"GET", "/v1/v1/models", routes + " This client wants a base URL without /v1."},
		{"POST", "/v1/<script>", routes},
	} {
		a := r.send(c.method, c.path, "{}", nil)
		if a.status != 404 {
			t.Errorf("%s: status %d", c.path, a.status)
		}
		mustContain(t, a.body, `"message":"`+c.says+`"`, `"code":"route_unknown"`)
	}
}

func TestHealth(t *testing.T) {
	r := newRig(t, allowAll, unreachable(t), nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := r.send("GET", path, "", map[string]string{"Host": "10.1.2.3:8788"}); a.status != 200 || !strings.Contains(a.body, `"status":"ok"`) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// Proves F18, G9, S22, S46: unsafe settings are refused.
func TestUnsafeSettings(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*gateway.Options)
		want   string
	}{
		{"open to the network without a token", func(o *gateway.Options) { o.Settings.Listen = "0.0.0.0:80" }, "set a token"},
		{"any address without a token", func(o *gateway.Options) { o.Settings.Listen = ":80" }, "set a token"},
		{"no port", func(o *gateway.Options) { o.Settings.Listen = "127.0.0.1" }, "HOST:PORT"},
		{"a limit switched off", func(o *gateway.Options) { o.Settings.Limits.Calls = 0 }, "limit"},
		{"a deadline switched off", func(o *gateway.Options) { o.Settings.Timeouts.Idle = 0 }, "timeout"},
		{"passthrough of a gated route", func(o *gateway.Options) { o.Settings.Passthrough = []string{"POST /v1/chat/completions"} }, "gated"},
		{"passthrough with a wildcard", func(o *gateway.Options) { o.Settings.Passthrough = []string{"GET /v1/*"} }, "want"},
		{"passthrough of any method", func(o *gateway.Options) { o.Settings.Passthrough = []string{"ANY /v1/x"} }, "unknown method"},
		{"metadata address", upstreamAt("http://169.254.169.254/latest"), "metadata"},
		{"metadata address in IPv6", upstreamAt("http://[fd00:ec2::254]/"), "metadata"},
		{"mapped metadata address", upstreamAt("http://[::ffff:169.254.169.254]/"), "metadata"},
		{"translated metadata address", upstreamAt("http://[64:ff9b::a9fe:a9fe]/"), "metadata"},
		{"file URL", upstreamAt("file:///etc/passwd"), "want http"},
		{"credentials in the URL", upstreamAt("https://user:pass@llm.example"), "no user"},
		{"two upstreams for one API", func(o *gateway.Options) { o.Upstreams = append(o.Upstreams, o.Upstreams[0]) }, "both serve"},
		{"unknown API", func(o *gateway.Options) { o.Upstreams[0].API = "bedrock" }, "unknown API"},
		{"unreadable id", func(o *gateway.Options) { o.Upstreams[0].ID = "a b" }, "upstream id"},
		{"key without a token", func(o *gateway.Options) { o.Upstreams[0].Key = "sk" }, "set a token"},
		{"key over plain http", func(o *gateway.Options) {
			o.Upstreams[0].Key, o.Token, o.Upstreams[0].BaseURL = "sk", "sg_x", "http://llm.example"
		}, "plain http"},
		{"no gate", func(o *gateway.Options) { o.Gate = nil }, "no gate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := gateway.Options{Gate: newGate(t, allowAll, nil), Settings: gateway.DefaultSettings(),
				Upstreams: []gateway.Upstream{{ID: "test", BaseURL: "https://llm.example/v1"}}}
			test.change(&o)
			if _, err := gateway.New(o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func upstreamAt(url string) func(*gateway.Options) {
	return func(o *gateway.Options) { o.Upstreams[0].BaseURL = url }
}
