package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// policyServer is a web server with ETags for bundles. What it serves can be replaced.
type policyServer struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]string
	zeros bool // every bundle is a gibibyte of zeros
	asked int  // how often zeros were asked for, and no more of them taken
	down  bool
}

func newPolicyServer(t *testing.T) *policyServer {
	p := &policyServer{files: map[string]string{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *policyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method == http.MethodPut {
		data, _ := io.ReadAll(r.Body)
		p.files[r.URL.Path] = string(data)
		return
	}
	text, ok := p.files[r.URL.Path]
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text)))
	switch {
	case p.down:
		w.WriteHeader(http.StatusBadGateway)
	case !ok:
		http.NotFound(w, r)
	case p.zeros && !strings.HasSuffix(r.URL.Path, ".minisig"):
		zeros := make([]byte, 1<<20)
		for range 1 << 10 {
			if _, err := w.Write(zeros); err != nil {
				p.asked++
				return
			}
		}
	case r.Header.Get("If-None-Match") == tag:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", tag)
		_, _ = io.WriteString(w, text)
	}
}

// change changes what is served, and returns it as it was.
func (p *policyServer) change(f func(files map[string]string)) (before map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = map[string]string{}
	for name, text := range p.files {
		before[name] = text
	}
	f(p.files)
	return before
}

const (
	fleetPublic = "RWSXIE5j9+tg+wV7Ya3ZUX5an5K3vlieABqOzgu5H3cTD7/znC3NfZsJ"
	fleetSecret = "untrusted comment: minisign secret key of these tests\nRWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlyBOY/frYPsRJCXRGV64sX4Jh/w8Wte8SDuLRS/2euR6cH0dKUgjBAV7Ya3ZUX5an5K3vlieABqOzgu5H3cTD7/znC3NfZsJAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
	strangerKey = "untrusted comment: minisign secret key of these tests\nRWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA5w6SEYpYg6c3/FD3rdcr1mhbemckq/ClQ1KNj6sdQZ5qrLT9We7Z2WS0z4e+1Roe7BMkL0wDFA2x4SWnwOkefD2CwMiJHr9oAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
)

// fleetOperator makes bundles with the program.
type fleetOperator struct {
	t   *testing.T
	dir string
	url string
}

func newFleetOperator(t *testing.T, url string) fleetOperator {
	dir := t.TempDir()
	for name, text := range map[string]string{"fleet.key": fleetSecret, "stranger.key": strangerKey} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fleetOperator{t, dir, url}
}

func (f fleetOperator) run(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("stopgate", append([]string{"bundle"}, args...)...)
	cmd.Dir, cmd.Env = f.dir, atHome(f.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("bundle %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// release builds, signs and pushes rules that deny with a reason.
func (f fleetOperator) release(reason string, further ...string) {
	f.t.Helper()
	f.make(reason, "fleet.key", further...)
	f.run("push", "p.bundle", f.url, "--public-key", fleetPublic)
}

func (f fleetOperator) make(reason, key string, further ...string) {
	f.t.Helper()
	text := "version = 1\n[tools.fs_create_file.policy]\nrun = [{ mode = \"deny\", reason = \"" + reason + "\" }]\n"
	if err := os.WriteFile(filepath.Join(f.dir, "p.toml"), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.run(append([]string{"build", "p.toml", "-o", "p.bundle", "--after", f.url, "--public-key", fleetPublic}, further...)...)
	f.run("sign", "p.bundle", "--key", key, "--against", "none")
}

// gateFile writes the file of a gate that follows a channel.
func gateFile(t *testing.T, dir, channel, further string) {
	t.Helper()
	text := fmt.Sprintf("version = 1\n[policy]\nbundle = %q\nkeys = [%q]\nevery = \"1s\"\n%s", channel, fleetPublic, further)
	if err := os.WriteFile(filepath.Join(dir, "gate.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// denies reports whether a gate denies a call for a reason.
func (s *server) denies(t *testing.T, reason string) func() bool {
	return func() bool {
		_, answer := post(t, s.url+"/v1/chat/completions", storeCredentials)
		return strings.Contains(answer, "was not run: "+reason)
	}
}

// Proves S70, S71: a bundle is on all gates soon after its push. What is not good is refused, shows in the health, the
// metrics, the records and the log, and the last good bundle stays in force, also over a restart.
func TestFleetFollowsItsChannel(t *testing.T) {
	web := newPolicyServer(t)
	op := newFleetOperator(t, web.URL+"/prod")
	op.release("generation one")
	one, two := t.TempDir(), t.TempDir()
	var gates []*server
	numbers := []string{freePort(t), freePort(t)}
	for i, dir := range []string{one, two} {
		gateFile(t, dir, op.url, "[telemetry]\nmetrics = \""+numbers[i]+"\"\n")
		gates = append(gates, startUp(t, dir, "--policy", "gate.toml"))
	}
	for _, s := range gates {
		if !s.denies(t, "generation one")() {
			t.Fatal("the first bundle is not in force")
		}
	}
	pushed := time.Now()
	op.release("generation two")
	for _, s := range gates {
		until(t, "generation two", s.denies(t, "generation two"))
	}
	if took := time.Since(pushed); took > 15*time.Second {
		t.Errorf("on all gates after %v", took)
	}
	s := gates[0]
	measured := func(want ...string) func() bool {
		return func() bool {
			text := get(t, "http://"+numbers[0]+"/metrics")
			return !slices.ContainsFunc(want, func(line string) bool { return !strings.Contains(text, "\n"+line+"\n") })
		}
	}
	until(t, "the metrics of generation two", measured("stopgate_bundle_generation 2", "stopgate_bundle_refused 0"))
	status := func() string { return strings.SplitN(get(t, s.url+"/healthz"), "\n", 2)[0] }
	good := web.change(func(map[string]string) {})
	older := map[string]string{"/prod": good["/prod.1"], "/prod.minisig": good["/prod.1.minisig"]}
	op.make("of a stranger", "stranger.key")
	foreign := map[string]string{"/prod": read(t, op.dir, "p.bundle"), "/prod.minisig": read(t, op.dir, "p.bundle.minisig")}
	op.make("of another signature", "fleet.key")
	newer := map[string]string{"/prod": read(t, op.dir, "p.bundle"), "/prod.minisig": read(t, op.dir, "p.bundle.minisig")}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // in the log
	}{
		{"older generation", older, "older generation"},
		{"unknown key", foreign, "not listed"},
		{"wrong signature", map[string]string{"/prod": good["/prod"], "/prod.minisig": newer["/prod.minisig"]}, "does not belong to these bytes"},
		{"truncated", map[string]string{"/prod": newer["/prod"][:len(newer["/prod"])-512], "/prod.minisig": newer["/prod.minisig"]}, "does not belong to these bytes"},
		{"no signature", map[string]string{"/prod": good["/prod"], "/prod.minisig": "x"}, "form of minisign"},
	} {
		web.change(func(files map[string]string) {
			for name, text := range c.files {
				files[name] = text
			}
		})
		until(t, c.name+" is refused and shows", func() bool { return strings.Contains(status(), "degraded") })
		if !measured("stopgate_bundle_generation 2", "stopgate_bundle_refused 1")() {
			t.Errorf("%s: the metrics do not show it", c.name)
		}
		if !s.denies(t, "generation two")() {
			t.Errorf("%s: generation two is not in force any more", c.name)
		}
		web.change(func(files map[string]string) {
			for name, text := range good {
				files[name] = text
			}
		})
		until(t, "good again after "+c.name, func() bool { return strings.Contains(status(), `"ok"`) })
	}
	// What is refused for its size, or cannot be read, is trouble of the channel.
	web.change(func(files map[string]string) { files["/prod.minisig"] = newer["/prod.minisig"]; web.zeros = true })
	until(t, "both gates have refused zeros", func() bool {
		web.mu.Lock()
		defer web.mu.Unlock()
		return web.asked >= 4
	})
	if !s.denies(t, "generation two")() {
		t.Error("zeros: generation two is not in force any more")
	}
	web.change(func(files map[string]string) {
		files["/prod.minisig"] = good["/prod.minisig"]
		web.zeros = false
		web.down = true
	})
	s.stop(t)
	s = startUp(t, one, "--policy", "gate.toml")
	if !s.denies(t, "generation two")() {
		t.Error("the last good bundle is not in force after a restart without the channel")
	}
	web.change(func(map[string]string) { web.down = false })
	op.release("generation three")
	until(t, "generation three", s.denies(t, "generation three"))
	s.stop(t)
	log := gates[0].stderr.String()
	for _, want := range []string{"older generation", "not listed", "does not belong to these bytes", "form of minisign", "more than", "the last good one stays in force", "good again"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
	// Every record names the bundle.
	text := output(t, one, "log", "--format", "json", "--policy", "gate.toml")
	decisions, named := 0, map[float64]bool{}
	for line := range strings.Lines(text) {
		var row struct {
			Kind   string
			Bundle *struct {
				Generation float64
				Digest     string
			}
		}
		if json.Unmarshal([]byte(line), &row) != nil || row.Kind != "decision" {
			continue
		}
		decisions++
		if row.Bundle == nil || len(row.Bundle.Digest) != 64 {
			t.Fatalf("a record names no bundle: %s", line)
		}
		named[row.Bundle.Generation] = true
	}
	if decisions == 0 || !named[1] || !named[2] || !named[3] {
		t.Errorf("%d decisions, generations %v in\n%s", decisions, named, text)
	}
	var id string
	for line := range strings.Lines(output(t, one, "log", "--policy", "gate.toml", "--decisions")) {
		if fields := strings.Fields(line); strings.Contains(line, "  bundle 3  ") {
			id = fields[len(fields)-1]
		}
	}
	if text := output(t, one, "log", "show", id, "--policy", "gate.toml"); id == "" || !strings.Contains(text, "  bundle     generation 3, sha256 ") {
		t.Errorf("the record %q of generation 3 is\n%s", id, text)
	}
	if text := output(t, one, "bundle", "status", "--fleet", "--policy", "gate.toml"); !strings.Contains(text, "/up/") || !strings.Contains(text, "generation 3") {
		t.Errorf("the fleet: %s", text)
	}
}

// Where old bundles are not accepted, every call is denied after max_age without the channel.
func TestFleetMaxAge(t *testing.T) {
	web := newPolicyServer(t)
	op := newFleetOperator(t, web.URL+"/prod")
	op.release("the rules")
	denying, going := t.TempDir(), t.TempDir()
	gateFile(t, denying, op.url, "max_age = \"3s\"\n")
	gateFile(t, going, op.url, "max_age = \"3s\"\nstale = \"continue\"\n")
	a, b := startUp(t, denying, "--policy", "gate.toml"), startUp(t, going, "--policy", "gate.toml")
	if !a.denies(t, "the rules")() || !b.denies(t, "the rules")() {
		t.Fatal("the bundle is not in force")
	}
	web.change(func(map[string]string) { web.down = true })
	until(t, "the old bundle denies", a.denies(t, "the policy bundle of this gate is too old"))
	if !b.denies(t, "the rules")() {
		t.Error("the old bundle does not go on")
	}
	web.change(func(map[string]string) { web.down = false })
	until(t, "the bundle is in force again", a.denies(t, "the rules"))
}

// Hooks follow the channel like other gates, and deny without a bundle.
func TestHookFollowsTheBundle(t *testing.T) {
	op := newFleetOperator(t, "file:"+filepath.Join(t.TempDir(), "prod"))
	dir := t.TempDir()
	gateFile(t, dir, op.url, "")
	hook := func() string {
		cmd := exec.Command("stopgate", "hook", "claude-code", "--policy", filepath.Join(dir, "gate.toml"))
		cmd.Dir, cmd.Env = dir, atHome(dir)
		cmd.Stdin = strings.NewReader(`{"session_id":"s","cwd":"` + dir + `","hook_event_name":"PreToolUse","tool_name":"fs_create_file","tool_input":{},"tool_use_id":"t"}`)
		out, _ := cmd.CombinedOutput() // a denial is exit status 2
		return string(out)
	}
	if text := hook(); !strings.Contains(text, `"deny"`) {
		t.Errorf("without a bundle: %s", text)
	}
	op.release("the first rule")
	until(t, "the first bundle", func() bool { return strings.Contains(hook(), "the first rule") })
	op.release("the second rule")
	until(t, "the second bundle", func() bool { return strings.Contains(hook(), "the second rule") })
}

// A gate without any bundle does not begin.
func TestFleetWithoutABundle(t *testing.T) {
	web := newPolicyServer(t)
	dir := t.TempDir()
	gateFile(t, dir, web.URL+"/prod", "")
	cmd := exec.Command("stopgate", "up", "--listen", "127.0.0.1:0", "--policy", "gate.toml")
	cmd.Dir, cmd.Env = dir, atHome(dir)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no policy is in force before the first bundle was accepted") {
		t.Errorf("%v\n%s", err, out)
	}
}

// freePort returns an address that nothing listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("stopgate", args...)
	cmd.Dir, cmd.Env = dir, atHome(dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}
