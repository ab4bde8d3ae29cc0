package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
)

// writer is a connection of another process to a store.
type writer struct {
	t  *testing.T
	db *sql.DB
	c  *sql.Conn
}

func newWriter(t *testing.T, path string) *writer {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(30000)")
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); db.Close() })
	return &writer{t, db, c}
}

func (w *writer) does(statement string) {
	w.t.Helper()
	if _, err := w.c.ExecContext(context.Background(), statement); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// shortest is the shorter of two times that an action takes.
func shortest(action func()) (d time.Duration) {
	d = time.Hour
	for range 2 {
		begin := time.Now()
		action()
		d = min(d, time.Since(begin))
	}
	return d
}

const lockedPolicy = `version = 1
[gate]
denial_limit = 0
[tools.free.policy]
run = "unattended"
[tools.never.policy]
run = "deny"
[tools.test]
policy.run = "unattended"
success = { pattern = "^done" }
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "require"
before = "deploy"
requires = "test"
`

// Proves FM4 with the built program: where another process locks the store for good, denials
// leave without waiting for it, and calls that could run are denied soon. Denials have their
// rows once the store is free.
func TestDenialsDoNotWaitForALockedStore(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "p.toml", lockedPolicy)
	s := startUp(t, dir, "--policy", "p.toml")
	decide := func(tool string) (code string) {
		_, answer := s.ask(t, "", "POST", "/v1/calls", fmt.Sprintf(`{"tool":%q,"args":{},"session":"s"}`, tool))
		return fmt.Sprint(answer["status"], " ", answer["code"])
	}
	hooks := 0
	hook := func() (exit int) {
		hooks++
		cmd := exec.Command("stopgate", "hook", "claude-code", "--policy", "p.toml")
		cmd.Dir, cmd.Env = dir, atHome(dir)
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"never","tool_input":{},"tool_use_id":"t%d","permission_mode":"default"}`, dir, hooks))
		_ = cmd.Run() // the exit code says it
		return cmd.ProcessState.ExitCode()
	}
	actions := map[string]func(){
		"API": func() {
			if got := decide("never"); got != "denied rule_matched" {
				t.Errorf("a denial of the API: %s", got)
			}
		},
		"hook": func() {
			if exit := hook(); exit != cli.ExitDenied {
				t.Errorf("a denial of the hook: exit %d", exit)
			}
		},
	}
	free := map[string]time.Duration{}
	for name, action := range actions {
		free[name] = shortest(action)
	}
	if got := decide("free"); got != "allowed rule_matched" {
		t.Fatalf("before the lock: %s", got)
	}
	w := newWriter(t, storeOf(dir))
	w.does("BEGIN EXCLUSIVE")
	// How long a call that needs a row waits until the store counts as unavailable: 250 ms on
	// an idle machine, more on a busy one.
	begin := time.Now()
	if got := decide("free"); !strings.HasPrefix(got, "denied ") || !strings.HasSuffix(got, "_unavailable") {
		t.Errorf("a call that could run: %s", got)
	}
	wait := max(250*time.Millisecond, time.Since(begin))
	for name, action := range actions {
		limit := 500*time.Millisecond + 10*free[name]
		if name == "hook" { // a process that has to find out for itself
			limit += 3 * wait
		}
		if locked := shortest(action); locked > limit {
			t.Errorf("%s: a denial takes %v beside a locked store and %v beside a free one, and the gate waits %v", name, locked, free[name], wait)
		}
	}
	w.does("ROLLBACK")
	for end := time.Now().Add(20 * time.Second); decide("free") != "allowed rule_matched"; {
		if time.Now().After(end) {
			t.Fatal("nothing is allowed after the lock")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if code := s.stop(t); code != cli.ExitOK {
		t.Errorf("up: exit %d: %s", code, s.stderr)
	}
	if counts := rowCounts(t, dir); counts["denied rule_matched"] != 8 {
		t.Errorf("rows %v, want 8 denials", counts)
	}
}

// gatewaySession is a conversation through the gateway that repeats its history.
type gatewaySession struct {
	s       *server
	model   *bodyModel
	name    string
	history string
	calls   int
}

// calls has the model call a tool without arguments, and returns what the client is told.
func (g *gatewaySession) call(t *testing.T, tool string) (said string, allowed bool) {
	t.Helper()
	g.calls++
	id := fmt.Sprint(g.name, "_", g.calls)
	call := fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}`, id, tool)
	g.model.body.Store(`{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[` + call + `]}}]}`)
	r, err := http.NewRequestWithContext(t.Context(), "POST", g.s.url+"/v1/chat/completions", strings.NewReader(fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"go"}%s],
		"tools":[{"type":"function","function":{"name":"test"}},{"type":"function","function":{"name":"deploy"}},{"type":"function","function":{"name":"free"}}]}`, g.history)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Stopgate-Session", g.name)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if said = string(text); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", res.StatusCode, err, said)
	}
	if allowed = strings.Contains(said, `"`+id+`"`); allowed {
		g.history += `,{"role":"assistant","content":null,"tool_calls":[` + call + `]},` + fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"done"}`, id)
	}
	return said, allowed
}

// Proves FM16 with the built program: a result that comes while the store is busy, and
// advances, is late: it is recorded, and what requires it runs. The session stays certain.
func TestResultsOfABusyStoreAreRecorded(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "p.toml", lockedPolicy)
	model := newBodyModel(t)
	s := startUp(t, dir, append([]string{"--policy", "p.toml"}, model.upstreams()...)...)
	var talks []*gatewaySession
	for n := range 4 {
		g := &gatewaySession{s: s, model: model, name: fmt.Sprint("talk", n)}
		if said, allowed := g.call(t, "test"); !allowed {
			t.Fatal(said)
		}
		talks = append(talks, g)
	}
	w := newWriter(t, storeOf(dir))
	w.does("CREATE TABLE noise (n INTEGER)")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Two thirds of the time belong to this writer.
			for _, statement := range []string{"BEGIN IMMEDIATE", "INSERT INTO noise VALUES (1)"} {
				if _, err := w.c.ExecContext(context.Background(), statement); err != nil {
					return
				}
			}
			time.Sleep(60 * time.Millisecond)
			if _, err := w.c.ExecContext(context.Background(), "COMMIT"); err != nil {
				return
			}
			time.Sleep(30 * time.Millisecond)
		}
	}()
	for _, g := range talks {
		if said, allowed := g.call(t, "deploy"); !allowed {
			t.Errorf("%s: %s", g.name, said)
		}
	}
	close(stop)
	<-ended
	s.stop(t)
	if counts := rowCounts(t, dir); counts["allowed"] != 8 || counts["denied session_degraded"]+counts["denied audit_unavailable"]+counts["denied store_unavailable"] > 0 {
		t.Errorf("rows %v", counts)
	}
}

// Proves FM16 with the built program: a result that a locked store does not take is lost. What
// session policies govern in that session is denied session_degraded, also after the lock,
// by the next gate too, until an operator reconciles the session; other calls and other sessions
// are served. The gateway reads the result from the history again: only the turn beside the
// locked store is denied.
func TestLostResultsDegradeTheSession(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "p.toml", lockedPolicy)
	model := newBodyModel(t)
	s := startUp(t, dir, append([]string{"--policy", "p.toml"}, model.upstreams()...)...)
	api := func(session, tool string) (id, code string) {
		_, answer := s.ask(t, "", "POST", "/v1/calls", fmt.Sprintf(`{"tool":%q,"args":{},"session":%q}`, tool, session))
		return fmt.Sprint(answer["id"]), fmt.Sprint(answer["status"], " ", answer["code"])
	}
	id, code := api("s", "test")
	g := &gatewaySession{s: s, model: model, name: "talk"}
	if said, allowed := g.call(t, "test"); !allowed || code != "allowed rule_matched" {
		t.Fatal(code, said)
	}
	w := newWriter(t, storeOf(dir))
	w.does("BEGIN EXCLUSIVE")
	s.ask(t, "", "POST", "/v1/calls/"+id+"/result", `{"data":"done"}`)
	if said, allowed := g.call(t, "deploy"); allowed || !strings.Contains(said, "store_unavailable") {
		t.Errorf("gateway beside a locked store: %s", said)
	}
	w.does("ROLLBACK")
	for end := time.Now().Add(20 * time.Second); ; {
		if _, code := api("other", "free"); code == "allowed rule_matched" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("another session after the lock: %s", code)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, code := api("s", "deploy"); code != "denied session_degraded" {
		t.Errorf("API after the lock: %s", code)
	}
	if said, allowed := g.call(t, "deploy"); !allowed { // which has the result again
		t.Errorf("gateway after the lock: %s", said)
	}
	if _, code := api("s", "free"); code != "allowed rule_matched" {
		t.Errorf("what no session policy governs: %s", code)
	}
	// The gate writes it as soon as the store takes facts: the end of the gate frees no session.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if _, said := stopgateIn(dir, "sessions", "show", "s", "--format", "json"); strings.Contains(said, `"kind":"degraded"`) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the store does not know of the degraded session: %s", said)
		}
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
	s = startUp(t, dir, append([]string{"--policy", "p.toml"}, model.upstreams()...)...)
	if _, code := api("s", "deploy"); code != "denied session_degraded" {
		t.Errorf("API of the next gate: %s", code)
	}
	if exit, said := stopgateIn(dir, "sessions", "reconcile", "s", "--principal", "local"); exit != cli.ExitOK {
		t.Fatalf("reconcile: exit %d: %s", exit, said)
	}
	if id, code = api("s", "test"); code != "allowed rule_matched" {
		t.Errorf("after reconcile: %s", code)
	}
	s.ask(t, "", "POST", "/v1/calls/"+id+"/result", `{"data":"done"}`)
	if _, code := api("s", "deploy"); code != "allowed rule_matched" {
		t.Errorf("after reconcile and a new result: %s", code)
	}
}
