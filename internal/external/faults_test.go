package external_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/external"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// good is a complete answer to a question.
func good(id string) string {
	return `{"protocol":1,"id":"` + id + `","version":"v1","decision":"allow","reason":"ok"}`
}

// faults are the ways in which a service fails, with the word of the row and the code of the denial.
var faults = []struct {
	name, word string
	code       stopgate.Code
	serve      func(w http.ResponseWriter, id string)
}{
	{"too long", "answer too long", stopgate.CodeInvalidPolicyResult, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, good(id)+strings.Repeat(" ", 1<<20))
	}},
	{"wrong version", "another version of the protocol", stopgate.CodeInvalidPolicyResult, text(`{"protocol":2,"id":"ID","version":"v1","decision":"allow","reason":"ok"}`)},
	{"no version", "another version of the protocol", stopgate.CodeInvalidPolicyResult, text(`{"id":"ID","version":"v1","decision":"allow","reason":"ok"}`)},
	{"version as text", "another version of the protocol", stopgate.CodeInvalidPolicyResult, text(`{"protocol":"1","id":"ID","version":"v1","decision":"allow","reason":"ok"}`)},
	{"version of the policy missing", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","decision":"allow","reason":"ok"}`)},
	{"unknown member", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"allow","reason":"ok","Allowed":true}`)},
	{"member twice", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"deny","decision":"allow","reason":"ok"}`)},
	{"another question", "answer to another question", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"x","version":"v1","decision":"allow","reason":"ok"}`)},
	{"no reason", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"allow"}`)},
	{"no code", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"allow","reason":"Well OK"}`)},
	{"no decision", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"permit","reason":"ok"}`)},
	{"true", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":true,"reason":"ok"}`)},
	{"terminal codes", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"deny","reason":"no","public_reason":"\u001b[2J"}`)},
	{"an array", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`["allow"]`)},
	{"no JSON", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`allow`)},
	{"nothing", "invalid answer", stopgate.CodeInvalidPolicyResult, text(``)},
	{"two answers", "invalid answer", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","decision":"allow","reason":"ok"}{}`)},
	{"exception", "the policy failed", stopgate.CodePolicyError, text(`{"protocol":1,"id":"ID","version":"v1","error":{"code":"policy_error","detail":"KeyError"}}`)},
	{"invalid decision", "the policy failed", stopgate.CodeInvalidPolicyResult, text(`{"protocol":1,"id":"ID","version":"v1","error":{"code":"invalid_policy_result"}}`)},
	{"content type", "answer is not application/json", stopgate.CodeInvalidPolicyResult, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, good(id))
	}},
	{"charset", "answer is not application/json", stopgate.CodeInvalidPolicyResult, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json; charset=utf-16")
		io.WriteString(w, good(id))
	}},
	{"compressed", "answer is not application/json", stopgate.CodeInvalidPolicyResult, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, good(id))
	}},
	{"redirect", "http 307", stopgate.CodePolicyError, func(w http.ResponseWriter, _ string) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	}},
	{"status", "http 500", stopgate.CodePolicyError, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, good(id))
	}},
	{"created", "http 201", stopgate.CodePolicyError, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, good(id))
	}},
	{"slow drip", "timeout", stopgate.CodePolicyTimeout, func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json")
		for _, c := range []byte(good(id)) {
			if _, err := w.Write([]byte{c}); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}},
	{"hangs", "timeout", stopgate.CodePolicyTimeout, func(http.ResponseWriter, string) { time.Sleep(700 * time.Millisecond) }},
	{"closed before the answer", "connection closed", stopgate.CodePolicyError, func(w http.ResponseWriter, _ string) {
		c, _, _ := w.(http.Hijacker).Hijack()
		c.Close()
	}},
	{"closed in the answer", "connection closed", stopgate.CodePolicyError, func(w http.ResponseWriter, id string) {
		c, _, _ := w.(http.Hijacker).Hijack()
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n%s", good(id))
		c.Close()
	}},
	{"no HTTP", "connection failed", stopgate.CodePolicyError, func(w http.ResponseWriter, id string) {
		c, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(c, good(id)+"\n")
		c.Close()
	}},
}

func text(answer string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.ReplaceAll(answer, "ID", id))
	}
}

// faulty starts a service that answers with the function.
func faulty(t *testing.T, f func(http.ResponseWriter, string)) *service {
	s := &service{t: t}
	s.handle(withID(f))
	return s
}

// answering is a handler that always gives one answer.
func answering(answer string) http.HandlerFunc { return withID(text(answer)) }

// withID is a handler that passes the id of a question.
func withID(f func(http.ResponseWriter, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, id, _ := strings.Cut(string(body), `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		f(w, id)
	}
}

// Proves G2-09, G2-11, G2-18, FM18: every failure of a service denies the call, and is in the row.
func TestFaultsDeny(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, rows := newGate(t, faulty(t, c.serve).table(`"gate"`))
			began := time.Now()
			out := decide(t, g, declared("rm", `{}`))
			if out.Allowed() || out.Verdict.Code != c.code || out.Verdict.Mode != stopgate.Deny {
				t.Fatalf("%+v", out.Verdict)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("the denial took %v", took)
			}
			a := rows.Decisions()[0].External
			if len(a) != 1 || a[0].Fault != c.word || a[0].Answer != "" {
				t.Errorf("row %+v, want %q", a, c.word)
			}
		})
	}
}

// The same failures deny where the service is a session policy, and have the mode of the table where
// it is a judge (FM1).
func TestFaultsOfOtherKinds(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, hook := range []string{`"session"`, `"handoff"`, `"judge"`} {
				s := faulty(t, func(w http.ResponseWriter, id string) { c.serve(w, id) })
				g, _ := newGate(t, s.table(hook))
				var out stopgate.Outcome
				if hook == `"handoff"` {
					out, _ = g.Handoff(t.Context(), gate.HandoffCall{To: "x", Session: "s", Turn: "t"})
				} else {
					out = decide(t, g, declared("rm", `{}`))
				}
				if c.name == "no reason" && hook == `"session"` { // an allow needs none
					continue
				}
				if out.Allowed() || hook == `"judge"` && out.Verdict.Code != stopgate.CodeJudgeUnavailable {
					t.Errorf("%s: %+v", hook, out.Verdict)
				}
			}
		})
	}
}

// A judge that fails has the mode of its table: a person is asked.
func TestJudgeOnError(t *testing.T) {
	s := faulty(t, faults[0].serve)
	text := strings.Replace(s.table(`"judge"`), "timeout =", "on_error = \"ask\"\ntimeout =", 1)
	g, _ := newGate(t, text)
	if out := decide(t, g, declared("rm", `{}`)); out.Verdict.Code != stopgate.CodeNoApprover {
		t.Errorf("%+v", out.Verdict)
	}
}

// No service at all, and a file that is no socket, deny.
func TestNobodyServes(t *testing.T) {
	s := &service{t: t, Socket: filepath.Join(t.TempDir(), "none.sock")}
	g, rows := newGate(t, s.table(`"gate"`))
	if out := decide(t, g, declared("rm", `{}`)); out.Allowed() || out.Verdict.Code != stopgate.CodePolicyError {
		t.Errorf("%+v", out.Verdict)
	}
	if a := rows.Decisions()[0].External; len(a) != 1 || a[0].Fault != "connection failed" {
		t.Errorf("%+v", a)
	}
	if err := os.WriteFile(s.Socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := decide(t, g, declared("rm", `{}`)); out.Allowed() {
		t.Error("a file answered")
	}
}

// A service by HTTP on this machine gets the token of the table, and no proxy of the environment.
func TestLoopbackAndToken(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("POLICY_TOKEN", "secret")
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization") + " " + r.URL.Path
		body, _ := io.ReadAll(r.Body)
		_, id, _ := strings.Cut(string(body), `"id":"`)
		text(good(id[:24]))(w, id[:24])
	}))
	defer server.Close()
	file := "version = 1\n[[external]]\nname = \"ext\"\nurl = \"" + server.URL + "/check\"\ntoken_env = \"POLICY_TOKEN\"\nhooks = [\"gate\"]\n" + tools
	g, _ := newGate(t, file)
	if out := decide(t, g, declared("rm", `{}`)); !out.Allowed() || seen != "Bearer secret /check" {
		t.Errorf("%+v, service saw %q", out.Verdict, seen)
	}
}

// The URLs of tables: a Unix socket, https, or http to this machine by its number.
func TestURLs(t *testing.T) {
	for url, ok := range map[string]bool{
		"unix:///run/p.sock": true, "https://policy.example.com/v1": true, "http://127.0.0.1:8080/x": true, "http://[::1]:8080": true,
		"http://policy.example.com": false, "http://localhost:1": false, "http://127.0.0.1.example.com": false, "unix://run/p.sock": false, "unix:///": false,
		"unix:p.sock": false, "unix:///run/../p.sock": false, "https://u:p@example.com": false, "https://example.com?x=1": false, "https://example.com#x": false,
		"https://": false, "ftp://example.com": false, "file:///etc/passwd": false, "": false, "HTTP://169.254.169.254/": false,
	} {
		if _, _, err := syntax.ExternalURL(url); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// A table with a setting that this machine lacks is an error when the gate is made.
func TestMissingToken(t *testing.T) {
	_, err := external.New(external.Options{}).Open(&gate.ExternalTable{Name: "x", URL: "https://example.com", TokenEnv: "NOT_SET_ANYWHERE", Source: "p.toml:2", Hooks: []string{"gate"}})
	if err == nil || !strings.Contains(err.Error(), "p.toml:2") || !strings.Contains(err.Error(), "NOT_SET_ANYWHERE") {
		t.Error(err)
	}
}
