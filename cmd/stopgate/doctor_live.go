package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/hook"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// liveJSON is what came of running a host.
type liveJSON struct {
	// Proved says that the host called the hook, that the denied call did not run, and
	// that the model was told why. Ran says that the denied call ran.
	Proved  bool   `json:"proved"`
	Ran     bool   `json:"ran,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// liveHost is how a host is run without a person, against a model that is ours.
type liveHost struct {
	// tool runs a shell command, under this name in the model's API.
	tool string
	args func(command string) string
	// command is the command line behind the program.
	command func(base string) []string
	// files are settings by their path below the home directory.
	files map[string]string
	env   []string
}

const livePrompt = "Do the work."

func asCommand(name string) func(string) string {
	return func(command string) string {
		return fmt.Sprintf(`{%q:%s}`, name, string(jsonstream.AppendQuote(nil, command)))
	}
}

func liveHosts(base string) map[string]liveHost {
	return map[string]liveHost{
		"claude-code": {tool: "Bash", args: asCommand("command"),
			command: func(string) []string {
				return []string{"--print", "--permission-mode", "bypassPermissions", "--model", liveModel, livePrompt}
			},
			env: []string{"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=sk-test", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1"}},
		"codex": {tool: "exec_command", args: asCommand("cmd"),
			command: func(string) []string {
				return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", livePrompt}
			},
			files: map[string]string{".codex/config.toml": "model = \"" + liveModel + "\"\nmodel_provider = \"doctor\"\n[model_providers.doctor]\nname = \"doctor\"\nbase_url = \"" + base + "/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n"}},
		"opencode": {tool: "bash", args: func(c string) string {
			return `{"command":` + string(jsonstream.AppendQuote(nil, c)) + `,"description":"work"}`
		},
			command: func(string) []string { return []string{"run", "--model", "doctor/" + liveModel, livePrompt} },
			files: map[string]string{".config/opencode/opencode.json": `{"autoupdate": false, "share": "disabled", "small_model": "doctor/` + liveModel + `", "permission": {"bash": "allow"},
  "provider": {"doctor": {"npm": "@ai-sdk/openai-compatible", "name": "doctor", "options": {"baseURL": "` + base + `/v1", "apiKey": "sk-test"},
    "models": {"` + liveModel + `": {"name": "doctor", "tool_call": true}}}}}`},
			env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}},
		"qwen-code": {tool: "run_shell_command", args: func(c string) string {
			return `{"command":` + string(jsonstream.AppendQuote(nil, c)) + `,"is_background":false}`
		},
			command: func(base string) []string {
				return []string{"--yolo", "--auth-type", "openai", "--openai-base-url", base + "/v1", "--openai-api-key", "sk-test", "--model", liveModel, "--prompt", livePrompt}
			}},
		"pi": {tool: "bash", args: asCommand("command"),
			command: func(string) []string {
				return []string{"--provider", "doctor", "--model", liveModel, "--print", livePrompt}
			},
			files: map[string]string{".pi/agent/models.json": `{"providers":{"doctor":{"baseUrl":"` + base + `/v1","api":"openai-completions","apiKey":"sk-test",
  "models":[{"id":"` + liveModel + `","name":"doctor","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":4096,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`},
			env: []string{"PI_OFFLINE=1"}},
	}
}

const liveModel = "doctor-model"

// liveLimit is how long a host may take for the one call.
const liveLimit = 2 * time.Minute

// prove runs the host with the hook that is installed, in a directory of its own, and
// lets a scripted model make a call that must be denied and that would leave a mark.
func (c *checkup) prove(ctx context.Context, h *hook.Host, project bool) {
	c.Live = &liveJSON{}
	program, err := exec.LookPath(programs[h.Name])
	if _, known := liveHosts("")[h.Name]; !known {
		c.Live.Problem = "this host cannot be given a scripted model"
		return
	}
	if programs[h.Name] == "" || err != nil {
		c.Live.Problem = "its program is not installed here"
		return
	}
	dir, err := os.MkdirTemp("", "stopgate-doctor-")
	if err != nil {
		c.Live.Problem = err.Error()
		return
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	if err := c.runLive(ctx, h, program, dir, project); err != nil {
		c.Live.Problem = err.Error()
	}
}

func (c *checkup) runLive(ctx context.Context, h *hook.Host, program, dir string, project bool) error {
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	mark := filepath.Join(dir, "mark")
	command := "touch " + visible.ShellWord(mark) + "; stopgate approvals list"
	model, err := newLiveModel(liveHosts("")[h.Name], command)
	if err != nil {
		return err
	}
	defer model.Close()
	host := liveHosts(model.URL)[h.Name]
	into, from := home, ""
	if from, err = os.UserHomeDir(); err != nil {
		return err
	}
	if project {
		into = work
		if from, err = os.Getwd(); err != nil {
			return err
		}
	}
	name, err := filepath.Rel(from, c.File)
	if err != nil {
		return err
	}
	settings, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	files := map[string]string{filepath.Join(into, name): string(settings)}
	for name, text := range host.files {
		if path := filepath.Join(home, name); files[path] == "" {
			files[path] = text
		}
	}
	files[filepath.Join(work, "README.md")] = "A directory of stopgate doctor.\n"
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, program, host.command(model.URL)...)
	cmd.Dir, cmd.WaitDelay = work, 5*time.Second
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "NO_COLOR=1", "CI=1", "OPENAI_API_KEY=sk-test", "NO_PROXY=127.0.0.1,localhost",
	}, host.env...)
	out, err := cmd.CombinedOutput()
	asked := model.asked()
	_, marked := os.Stat(mark)
	switch {
	case marked == nil:
		c.Live.Ran = true
		return errors.New("the call that must be denied RAN: the host does not ask the hook, or does not listen to it")
	case hook.CanaryDenied(asked):
		c.Live.Proved = true
		return nil
	case err != nil:
		return fmt.Errorf("it could not be run: %w: %s", err, visible.Elide(strings.TrimSpace(string(out)), 300))
	case asked == "":
		return errors.New("it did not ask the scripted model")
	}
	return fmt.Errorf("the call did not run, but not because of the hook: %s", visible.Elide(strings.TrimSpace(string(out)), 300))
}

// newLiveModel is a model that makes one call and then says that it is done.
func newLiveModel(host liveHost, command string) (*liveServer, error) {
	up, err := replay.New(replay.Options{Scenarios: []*replay.Scenario{{Model: liveModel, Turns: []replay.Turn{
		{Say: "One step.", Calls: []replay.ScriptedCall{{Tool: host.tool, Args: host.args(command)}}},
		{Say: "Done."},
	}}}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &liveServer{URL: "http://" + listener.Addr().String()}
	m.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
		if err != nil {
			return
		}
		m.mu.Lock()
		m.bodies.Write(body)
		m.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		up.ServeHTTP(w, r)
	})}
	m.done.Go(func() { _ = m.server.Serve(listener) })
	return m, nil
}

// liveServer is the scripted model and what it was asked.
type liveServer struct {
	URL    string
	server *http.Server
	done   sync.WaitGroup
	mu     sync.Mutex
	bodies bytes.Buffer
}

// Close ends the model.
func (m *liveServer) Close() {
	_ = m.server.Close()
	m.done.Wait()
}

func (m *liveServer) asked() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bodies.String()
}

func (c *checkup) printLive(w io.Writer) {
	switch {
	case c.Live == nil:
	case c.Live.Proved:
		fmt.Fprintf(w, "  live: proved: %s asked the hook, the denied call did not run, and the model was told why\n", programs[c.Host])
	default:
		fmt.Fprintf(w, "  live: not proved: %s\n", visible.Lines(c.Live.Problem))
	}
}
