package gateway_test

import (
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
)

// named is a provider that reports its name and the connection of the request.
func named(t *testing.T, name string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"served_by":"`+name+`","from":"`+r.RemoteAddr+`"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// Proves FM11: settings, upstreams and tokens of a reload apply to later requests; invalid ones
// change nothing; unchanged upstreams keep their connections.
func TestReload(t *testing.T) {
	second := named(t, "second")
	options := gateway.Options{Settings: gateway.DefaultSettings()}
	r := newRig(t, allowAll, named(t, "first").Config.Handler, func(o *gateway.Options) { options.Upstreams = o.Upstreams })
	first := r.post("/v1/embeddings", "{}")
	mustContain(t, first.body, "first")

	options.Settings.Limits.Request = 5
	if err := r.gw.Reload(options); err != nil {
		t.Fatal(err)
	}
	if a := r.post("/v1/embeddings", `{"input":"x"}`); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("the limit does not hold: %d %s", a.status, a.body)
	}
	if again := r.post("/v1/embeddings", "{}"); again.body != first.body {
		t.Errorf("another connection upstream: %s, before %s", again.body, first.body)
	}

	options.Upstreams = []gateway.Upstream{{ID: "test", BaseURL: second.URL}}
	options.Tokens = []gateway.Token{{Name: "ci", SHA256: sha256.Sum256([]byte("sg_ci"))}}
	if err := r.gw.Reload(options); err != nil {
		t.Fatal(err)
	}
	if a := r.post("/v1/embeddings", "{}"); a.status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", a.status, a.body)
	}
	mustContain(t, r.send("POST", "/v1/embeddings", "{}", map[string]string{"X-Stopgate-Token": "sg_ci"}).body, "second")

	for name, spoil := range map[string]func(*gateway.Options){
		"no limit":     func(o *gateway.Options) { o.Settings.Limits.Calls = 0 },
		"bad upstream": func(o *gateway.Options) { o.Upstreams = []gateway.Upstream{{ID: "x", BaseURL: "ftp://x"}} },
		"no tokens": func(o *gateway.Options) {
			o.Tokens = nil
			o.Upstreams = []gateway.Upstream{{ID: "x", BaseURL: "https://x.example", Key: "k"}}
		},
		"a nameless token": func(o *gateway.Options) { o.Tokens = []gateway.Token{{SHA256: sha256.Sum256([]byte("sg_ci"))}} },
		"an empty token":   func(o *gateway.Options) { o.Tokens = []gateway.Token{{Name: "x", SHA256: sha256.Sum256(nil)}} },
		"a taken name": func(o *gateway.Options) {
			o.Tokens = []gateway.Token{{Name: "local", SHA256: sha256.Sum256([]byte("sg_ci"))}}
		},
		"a name twice": func(o *gateway.Options) { o.Tokens = append(o.Tokens, o.Tokens...) },
	} {
		bad := options
		spoil(&bad)
		if err := r.gw.Reload(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	mustContain(t, r.send("POST", "/v1/embeddings", "{}", map[string]string{"X-Stopgate-Token": "sg_ci"}).body, "second")
}

// Proves FM11: a running stream keeps the settings it began with.
func TestReloadKeepsStreams(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	options := gateway.Options{Settings: gateway.DefaultSettings()}
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chatEvent(`{"role":"assistant","content":"hi"}`, "null"))
		_ = http.NewResponseController(w).Flush()
		close(begun)
		<-goOn
		_, _ = io.WriteString(w, chatCall(0, "c1", "a", `{"path":"x"}`)+chatEvent(`{}`, `"tool_calls"`)+chatDone)
	}), func(o *gateway.Options) { options.Upstreams = o.Upstreams })
	res, err := r.client.Post(r.url+chatPath, "application/json", strings.NewReader(chatRequest(true)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-begun
	options.Settings.Limits.HeldResponse = 1
	options.Upstreams = []gateway.Upstream{{ID: "other", BaseURL: named(t, "other").URL}}
	if err := r.gw.Reload(options); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, string(text), `"tool_calls"`, "[DONE]")
	mustLack(t, string(text), "was not run")
	mustContain(t, r.post("/v1/embeddings", "{}").body, "other")
}

// Proves S22, S46: every token has its own principal, in every place of a token, and rules see it.
func TestPrincipalsOfTokens(t *testing.T) {
	const policy = `version = 1
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = [{ when = { principal = "intern" }, mode = "deny" }, { mode = "unattended" }]
`
	r := newRig(t, policy, script{body: chatStream("tool_calls", chatCall(0, "c1", "a", `{}`))}, func(o *gateway.Options) {
		for _, name := range []stopgate.Principal{"intern", "senior"} {
			o.Tokens = append(o.Tokens, gateway.Token{Name: name, SHA256: sha256.Sum256([]byte("sg_" + string(name)))})
		}
	})
	for _, place := range []string{"X-Stopgate-Token", "Authorization", "X-Api-Key", "path"} {
		for _, name := range []string{"intern", "senior"} {
			path, header := chatPath, map[string]string{place: "sg_" + name}
			switch place {
			case "Authorization":
				header[place] = "Bearer sg_" + name
			case "path":
				path, header = "/k/sg_"+name+chatPath, nil
			}
			a := r.send("POST", path, chatRequest(true), header)
			if denied := strings.Contains(a.body, "was not run"); a.status != 200 || denied != (name == "intern") {
				t.Errorf("%s in %s: %d, denied is %t\n%s", name, place, a.status, denied, a.body)
			}
		}
		if a := r.send("POST", chatPath, chatRequest(true), map[string]string{"X-Stopgate-Token": "sg_other"}); a.status != http.StatusUnauthorized {
			t.Errorf("an unknown token: %d", a.status)
		}
	}
}

// Models go to the upstream that names them, the most specific first; others go to the upstream
// without models.
func TestUpstreamsByModel(t *testing.T) {
	var list []gateway.Upstream
	for name, models := range map[string][]string{
		"mini": {"gpt-*-mini", "gpt-5-nano"}, "gpt": {"gpt-*"}, "five": {"gpt-5-*"}, "o": {"o3", "*/o4*x"}, "rest": nil,
	} {
		list = append(list, gateway.Upstream{ID: name, API: "openai", Models: models, BaseURL: named(t, name).URL})
	}
	r := newRig(t, allowAll, http.NotFoundHandler(), func(o *gateway.Options) { o.Upstreams = list })
	for model, want := range map[string]string{
		"gpt-4": "gpt", "gpt-5-big": "five", "gpt-5-nano": "mini", "gpt-5-mini": "five", "o3": "o", "o3-x": "rest",
		"azure/o4-tix": "o", "azure/o4-ti": "rest", "": "rest", "llama": "rest",
	} {
		a := r.post(chatPath, strings.Replace(chatRequest(false), `"model":"m"`, `"model":"`+model+`"`, 1))
		if got := a.header.Get("X-Stopgate-Upstream"); got != want {
			t.Errorf("chat with %q went to %q, want %q", model, got, want)
		}
		if model == "" {
			continue
		}
		if a := r.post("/v1/embeddings", `{"input":"x","model":"`+model+`"}`); a.header.Get("X-Stopgate-Upstream") != want {
			t.Errorf("embeddings with %q went to %s", model, a.body)
		}
	}
	twice := gateway.Options{Gate: newGate(t, allowAll, nil), Settings: gateway.DefaultSettings(), Upstreams: []gateway.Upstream{
		{ID: "a", BaseURL: "http://127.0.0.1", Models: []string{"x"}}, {ID: "b", API: "openai", BaseURL: "http://127.0.0.1", Models: []string{"y", "x"}},
	}}
	if _, err := gateway.New(twice); err == nil || !strings.Contains(err.Error(), "both serve") {
		t.Errorf("one model at two upstreams: %v", err)
	}
}
