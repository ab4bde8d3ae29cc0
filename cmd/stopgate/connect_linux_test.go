package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// relayed is a program that talks to a gate through stopgate connect.
type relayed struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	id  int
}

// account gives a test a user of its own with a state directory of a short path.
func account(t *testing.T) (env []string, state string) {
	t.Helper()
	state, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endGates(t, state)
		os.RemoveAll(state)
	})
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "XDG_") && name != "HOME" {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+state, "XDG_STATE_HOME="+state), state
}

// gates returns the sockets of the gates that run.
func gates(t *testing.T, state string) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(state, "stopgate", "gates", "*.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// gateAt returns the process that listens at a socket.
func gateAt(t *testing.T, path string) *os.Process {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		return nil
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	p, err := os.FindProcess(pid)
	if err != nil || pid <= 0 {
		t.Fatalf("process %d: %v", pid, err)
	}
	return p
}

// endGates ends the gates that a test started.
func endGates(t *testing.T, state string) {
	for _, path := range gates(t, state) {
		if p := gateAt(t, path); p != nil {
			p.Signal(syscall.SIGTERM)
			until(t, "the gate ends", func() bool { return gateAt(t, path) == nil })
		}
	}
}

func startRelay(t *testing.T, env []string, dir string, args ...string) *relayed {
	t.Helper()
	program, err := exec.LookPath("stopgate")
	if err != nil {
		t.Fatal(err)
	}
	r := &relayed{t: t, cmd: exec.Command(program, append([]string{"connect"}, args...)...)}
	r.cmd.Env, r.cmd.Dir, r.cmd.Stderr = env, dir, os.Stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewScanner(out)
	r.out.Buffer(nil, 1<<20)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.in.Close()
		r.cmd.Wait()
	})
	return r
}

func (r *relayed) next() (f map[string]any) {
	r.t.Helper()
	if !r.out.Scan() {
		r.t.Fatal("the relay ended")
	}
	if err := json.Unmarshal(r.out.Bytes(), &f); err != nil {
		r.t.Fatal(err)
	}
	return f
}

// send sends a request and returns the frame of its response.
func (r *relayed) send(method, path, body string, headers ...string) map[string]any {
	r.t.Helper()
	r.id++
	h := map[string]string{}
	for i := 0; i < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	text, err := json.Marshal(map[string]any{"id": r.id, "method": method, "path": path, "body": body, "headers": h})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.in.Write(append(text, '\n')); err != nil {
		r.t.Fatal(err)
	}
	return r.next()
}

// wants reports an error unless the response has a status and all texts.
func (r *relayed) wants(f map[string]any, status int, texts ...string) map[string]any {
	r.t.Helper()
	text, _ := f["body"].(string)
	if f["status"] != float64(status) {
		r.t.Errorf("want %d: %v", status, f)
	}
	for _, part := range texts {
		if !strings.Contains(text, part) {
			r.t.Errorf("%q is missing in %s", part, text)
		}
	}
	var body map[string]any
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			r.t.Error(err)
		}
	}
	return body
}

func projectOf(t *testing.T, policy string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte("version = 1\n"+policy), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const (
	allows = "[tools.t.policy]\nrun = \"unattended\"\n"
	asks   = "[tools.t.policy]\nrun = [{ mode = \"ask\" }]\n"
	callT  = `{"tool":"t","args":{"a":1}}`
)

// Ten programs that begin at once use one gate; another policy has another one.
func TestConnectFindsOneGate(t *testing.T) {
	env, state := account(t)
	one, two := projectOf(t, allows), projectOf(t, "[tools.t.policy]\nrun = [{ mode = \"deny\" }]\n")
	var all sync.WaitGroup
	for range 10 {
		r := startRelay(t, env, one, "--policy", "p.toml")
		all.Go(func() {
			if f := r.next(); f["hello"] == nil {
				t.Errorf("%v", f)
				return
			}
			r.wants(r.send("POST", "/v1/calls", callT, "Prefer", "args-text"), 200, `"allowed"`, `"args_text":"{\"a\":1}"`)
		})
	}
	all.Wait()
	if n := len(gates(t, state)); n != 1 {
		t.Errorf("%d gates", n)
	}
	other := startRelay(t, env, "/", "--project", two, "--policy", filepath.Join(two, "p.toml"))
	other.next()
	other.wants(other.send("POST", "/v1/calls", callT), 200, `"denied"`)
	if n := len(gates(t, state)); n != 2 {
		t.Errorf("%d gates", n)
	}
	// The file of the policy changes: a program that begins now is not judged by the old one.
	if err := os.WriteFile(filepath.Join(one, "p.toml"), []byte("version = 1\n"+asks), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := startRelay(t, env, one, "--policy", "p.toml")
	changed.next()
	changed.wants(changed.send("POST", "/v1/calls", callT), 200, `"no_approver"`)
	if err := os.WriteFile(filepath.Join(one, "p.toml"), []byte("version = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := startRelay(t, env, one, "--policy", "p.toml").next(); f["error"] == nil {
		t.Errorf("a policy with mistakes: %v", f)
	}
}

// A gate that is killed loses its open requests; the next one starts another gate, where the keys of
// sessions hold. No key is in a record or a log.
func TestConnectAfterTheGateDied(t *testing.T) {
	env, state := account(t)
	r := startRelay(t, env, projectOf(t, asks), "--policy", "p.toml")
	r.next()
	begun := r.wants(r.send("POST", "/v1/sessions", ""), 201, `"key":"sgk_`)
	id, key := begun["session"].(string), begun["key"].(string)
	own := []string{"Stopgate-Session-Key", key, "Stopgate-Approver", "program", "Prefer", "args-text"}
	call := fmt.Sprintf(`{"tool":"t","args":{"a":1},"session":%q}`, id)
	asked := r.wants(r.send("POST", "/v1/calls", call, own...), 202, `"complete":true`)
	waiting := `{"id":%d,"method":"GET","path":"/v1/calls/%s","headers":{"Prefer":"wait=60"}}` + "\n"
	r.id++
	fmt.Fprintf(r.in, waiting, r.id, asked["id"])
	gateAt(t, gates(t, state)[0]).Kill()
	// A request that had not left the relay yet goes to the next gate, which has no such call.
	if f := r.next(); f["error"] == nil && f["status"] != 404.0 {
		t.Errorf("%v", f)
	}
	r.wants(r.send("POST", "/v1/sessions/"+id+"/facts", `{"spoke":true}`, own[:2]...), 204)
	r.wants(r.send("POST", "/v1/sessions/"+id+"/facts", `{"spoke":true}`), 403)
	r.wants(r.send("POST", "/v1/sessions", fmt.Sprintf(`{"session":%q}`, id)), 409, "session_exists")

	asked = r.wants(r.send("POST", "/v1/calls", call, own...), 202)
	if asked == nil {
		t.FailNow()
	}
	question := asked["approval"].(map[string]any)
	r.wants(r.send("POST", "/v1/approvals/"+question["id"].(string), fmt.Sprintf(`{"answer":"approve","seen":%q}`, question["seen"]), own[:2]...), 200, `"via":"program"`)
	r.wants(r.send("GET", "/v1/calls/"+asked["id"].(string), "", "Prefer", "wait=20, args-text"), 200, `"allowed"`)

	endGates(t, state)
	program, err := exec.LookPath("stopgate")
	if err != nil {
		t.Fatal(err)
	}
	log := exec.Command(program, "log", "--format", "json")
	log.Env = env
	rows, err := log.Output()
	if err != nil || !strings.Contains(string(rows), `"by":"program"`) {
		t.Errorf("%v: %s", err, rows)
	}
	err = filepath.WalkDir(state, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), key) {
			t.Errorf("%s has the key", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// serve ends when it is idle, when its program file is replaced, and does not start twice.
func TestServeEnds(t *testing.T) {
	env, state := account(t)
	dir := projectOf(t, allows)
	program, err := exec.LookPath("stopgate")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "stopgate")
	if err := os.WriteFile(copied, text, 0o700); err != nil {
		t.Fatal(err)
	}
	serve := func(program string, args ...string) (*exec.Cmd, chan error) {
		cmd := exec.Command(program, append([]string{"serve", "--policy", "p.toml"}, args...)...)
		cmd.Env, cmd.Dir = env, dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		return cmd, ended
	}
	wait := func(what string, ended chan error, fails bool) {
		t.Helper()
		select {
		case err := <-ended:
			if (err != nil) != fails {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: it goes on", what)
		}
	}
	socket := filepath.Join(state, "a.sock")
	_, ended := serve(program, "--api-socket", socket, "--idle", "1s")
	until(t, "the gate listens", func() bool { return gateAt(t, socket) != nil })
	_, second := serve(program, "--api-socket", socket)
	wait("a second one", second, true)
	wait("idle", ended, false)
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is still there")
	}
	_, ended = serve(copied, "--api-socket", socket, "--idle", "0")
	until(t, "the gate listens", func() bool { return gateAt(t, socket) != nil })
	if err := os.WriteFile(copied+".new", text, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied+".new", copied); err != nil {
		t.Fatal(err)
	}
	wait("replaced", ended, false)
}
