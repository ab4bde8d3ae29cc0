package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/internal/replay"
)

// agent is a coding agent and how to run it without a person.
type agent struct {
	name string
	// tool runs a shell command, args are its arguments.
	tool string
	args func(command string) map[string]any
	// command is what a user would type, in the working folder; base is the
	// address of the API and files are settings by their path below HOME. BASE in env is
	// that address too.
	command func(base, prompt string) []string
	files   func(base string) map[string]string
	env     []string
	// host is the name of its hook.
	host string
	// ends: a denial ends its run, and the model hears no more.
	ends bool
	// gemini: it speaks Google's API, which the gateway does not serve.
	gemini bool
}

const prompt = "Do the work."

// settings writes the agent's settings, except those that are there already.
func (a *agent) settings(t *testing.T, home, base string) {
	t.Helper()
	for name, text := range a.files(base) {
		file := filepath.Join(home, name)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// maxRun is how long an agent may take: on a machine that is busy some take minutes for what
// is otherwise done in seconds.
const maxRun = 10 * time.Minute

// run runs an agent in a folder of its own until it ends.
func (a *agent) run(t *testing.T, home, work, base string) string {
	t.Helper()
	a.settings(t, home, base)
	bin, err := filepath.Abs(filepath.Join("node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxRun)
	defer cancel()
	args := a.command(base, prompt)
	cmd := exec.CommandContext(ctx, filepath.Join(bin, args[0]), args[1:]...)
	cmd.Dir = work
	cmd.Env = append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "NO_COLOR=1", "CI=1",
		"OPENAI_API_KEY=sk-test", "NO_PROXY=127.0.0.1", "GOOGLE_GEMINI_BASE_URL=" + base,
	}, a.env...)
	for i, e := range cmd.Env {
		cmd.Env[i] = strings.ReplaceAll(e, "=BASE", "="+base)
	}
	// What it started ends with it, and holds its output open no longer.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		t.Errorf("%s did not end within %v\n%s", a.name, maxRun, out.String())
	case err != nil:
		t.Errorf("%s: %v\n%s", a.name, err, out.String())
	}
	return out.String()
}

// model is the scripted model and what it was asked.
type model struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

// newModel plays turns of calls of the agent's tool, one command each, and then says
// that it is done.
func newModel(t *testing.T, a *agent, turns ...[]string) *model {
	s := &replay.Scenario{Model: "work-model"}
	for i, commands := range turns {
		turn := script.Turn{Say: fmt.Sprintf("Step %d.", i+1)}
		for _, c := range commands {
			args, err := json.Marshal(a.args(c))
			if err != nil {
				t.Fatal(err)
			}
			turn.Calls = append(turn.Calls, script.Call{Tool: a.tool, Args: string(args)})
		}
		s.Turns = append(s.Turns, turn)
	}
	s.Turns = append(s.Turns, script.Turn{Say: "All steps are done."})
	up, err := replay.New(replay.Options{Scenarios: []*replay.Scenario{s}})
	if err != nil {
		t.Fatal(err)
	}
	m := &model{}
	var play http.Handler = up
	if a.gemini {
		play = gemini{s}
	}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		m.mu.Lock()
		m.bodies = append(m.bodies, string(body))
		m.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		play.ServeHTTP(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *model) asked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.bodies, "\n")
}
