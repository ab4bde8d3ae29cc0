package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

// fleetLimits are tools with a limit of calls in a session.
var fleetLimits = map[string]int{"one": 1, "three": 3, "eight": 8}

// fleetFile returns a policy with these tools, one that is free and one that asks.
func fleetFile() string {
	text := fleetPolicy
	for tool, limit := range fleetLimits {
		text += fmt.Sprintf("[tools.%[1]s.policy]\nrun = \"unattended\"\n[[session]]\ntype = \"limit\"\nname = %[1]q\ntools = [%[1]q]\nmax_calls = %[2]d\nwithin = \"1h\"\nscope = \"session\"\n", tool, limit)
	}
	return text
}

const fleetPolicy = `version = 1

[gate]
denial_limit = 0

[tools.free.policy]
run = "unattended"

[tools.asked.policy]
run = "ask"

[approvals]
absent = "defer"

[api]
listen = "127.0.0.1:0"
[api.tokens.client]
scopes = ["decide", "observe"]
env = "FLEET_CLIENT"
[api.tokens.lead]
scopes = ["approve", "operate"]
env = "FLEET_LEAD"
`

const (
	fleetClient = "client-0123456789abcdef"
	fleetLead   = "lead-0123456789abcdef"
)

// gateFleet is several gates as processes that share one database, each by a proxy of its own, and a
// round robin in front of them.
type gateFleet struct {
	t        *testing.T
	server   *postgres.Server
	location string // of the database, without a proxy
	gates    []*fleetGate
	next     atomic.Uint64
	client   http.Client

	restarting sync.Mutex // one restart of the database at a time
}

// fleetGate is one gate.
type fleetGate struct {
	name  string
	dir   string
	proxy *postgres.Proxy
	store string

	mu      sync.Mutex // one change of the process at a time
	process *server
	api     atomic.Pointer[string]
}

// startFleet starts gates.
func startFleet(t *testing.T, n int) *gateFleet {
	t.Helper()
	t.Setenv("FLEET_CLIENT", fleetClient)
	t.Setenv("FLEET_LEAD", fleetLead)
	srv := postgres.Start(t, postgres.Durable)
	f := &gateFleet{t: t, server: srv, location: srv.Database(t)}
	f.client = http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(f.client.CloseIdleConnections)
	policy := fleetFile()
	for i := range n {
		m := &fleetGate{name: fmt.Sprintf("gate-%d", i+1), dir: t.TempDir(), proxy: srv.Proxy(t)}
		m.store = m.proxy.Through(f.location)
		if err := os.WriteFile(filepath.Join(m.dir, "p.toml"), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
		f.gates = append(f.gates, m)
		if err := m.start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.process.end() })
	}
	return f
}

// start starts the process of a gate, as a supervisor does: until it runs.
func (g *fleetGate) start() (err error) {
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		up, failed := tryUp(g.dir, "--policy", "p.toml", "--store", g.store, "--gate", g.name)
		if err = failed; err == nil {
			g.process = up
			g.api.Store(&up.api)
			return nil
		}
	}
	return err
}

// answer is what the decision API says of a call.
type answer struct {
	ID, Status, Code string
	Args             json.RawMessage
	at               *fleetGate
}

// send sends a request to a gate. A gate that does not answer is an error.
func (f *gateFleet) send(m *fleetGate, method, path, token, body string, header ...string) (status int, text []byte, err error) {
	req, err := http.NewRequest(method, *m.api.Load()+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// call asks the next gate about a call.
func (f *gateFleet) call(tool, session, args string, header ...string) (a answer, err error) {
	m := f.gates[f.next.Add(1)%uint64(len(f.gates))]
	a, err = f.callAt(m, tool, session, args, header...)
	return a, err
}

// callAt asks one gate about a call.
func (f *gateFleet) callAt(m *fleetGate, tool, session, args string, header ...string) (a answer, err error) {
	a.at = m
	_, text, err := f.send(m, "POST", "/v1/calls", fleetClient, fmt.Sprintf(`{"tool":%q,"session":%q,"args":%s}`, tool, session, args), header...)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%w: %s", err, text)
	}
	return a, nil
}

// released returns the ids of the calls of a session that were released by the store's rows, and of
// those that were recorded as allowed and, as the gate recorded later, did not leave it.
func (f *gateFleet) released(session string) (ids, failed []string) {
	f.t.Helper()
	for _, line := range f.rows(session) {
		var row struct {
			ID, Status string
			Event      stopgate.AuditEvent
		}
		if err := json.Unmarshal(line, &row); err != nil {
			f.t.Fatal(err)
		}
		if row.Event == stopgate.AuditReleaseFailed {
			failed = append(failed, row.ID)
		}
		if row.Status == "allowed" {
			ids = append(ids, row.ID)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(failed, id) }), failed
}

// rows returns the records of a session.
func (f *gateFleet) rows(session string) (lines [][]byte) {
	f.t.Helper()
	cmd := exec.Command("stopgate", "log", "--store", f.location, "--session", session, "--format", "json", "-n", "1000")
	cmd.Env = atHome(f.gates[0].dir)
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("log: %v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, []byte(line))
	}
	return lines
}

// Proves I19, I22, H4: sessions, limits and records are those of one gate, whichever is asked.
func TestFleetIsOneGate(t *testing.T) {
	f := startFleet(t, 3)
	allowed := f.burst("eight", "s", 64)
	rows, failed := f.released("s")
	for until := time.Now().Add(20 * time.Second); len(rows)+len(failed) < 8 && time.Now().Before(until); rows, failed = f.released("s") {
		allowed = append(allowed, f.burst("eight", "s", 3)...) // on a busy machine calls are denied because the database is slow
	}
	allowed = append(allowed, f.burst("eight", "s", 9)...)
	rows, failed = f.released("s")
	for _, id := range allowed {
		if !slices.Contains(rows, id) {
			t.Errorf("%s was allowed without a row", id)
		}
	}
	if len(rows) > 8 || len(rows)+len(failed) < 8 {
		t.Errorf("%d calls of a limit of 8, %d more did not leave their gate", len(rows), len(failed))
	}
	f.verify()
}

// burst asks the gates about calls of one session at once, and returns the ids of those that were
// allowed.
func (f *gateFleet) burst(tool, session string, calls int) (allowed []string) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range calls {
		group.Go(func() {
			a, err := f.call(tool, session, fmt.Sprintf(`{"n":%d}`, i))
			if err == nil && a.Status == "allowed" {
				mu.Lock()
				defer mu.Unlock()
				allowed = append(allowed, a.ID)
			}
		})
	}
	group.Wait()
	return allowed
}

// verify verifies the chains of all gates.
func (f *gateFleet) verify() {
	f.t.Helper()
	cmd := exec.Command("stopgate", "log", "verify", "--store", f.location)
	cmd.Env = atHome(f.gates[0].dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Errorf("%v\n%s", err, out)
	}
}
