package hosts

import (
	"bytes"
	"cmp"
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

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/visible"
)

// liveJSON is the result of running a host.
type liveJSON struct {
	// Proved reports that the host called the hook, that the denied call did not run, and that
	// the model received the reason, or that the call runs as soon as there is no hook. Ran
	// reports that the denied call ran.
	Proved  bool   `json:"proved"`
	Ran     bool   `json:"ran,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// liveModel is the name of the scripted model.
const liveModel = "doctor-model"

// liveLimit is how long a host may take for the one call.
const liveLimit = 2 * time.Minute

// prove runs the host with the hook that is installed, in a directory of its own, and
// lets a scripted model make a call that must be denied and that would leave a mark.
func (c *checkup) prove(ctx context.Context, h *hook.Host, project bool) {
	c.Live = &liveJSON{}
	if h.Live == nil {
		c.Live.Problem = cmp.Or(h.NotLive, "this host has no program of its own") + "; to see it, let it run: stopgate approvals list (the hook must deny it)"
		return
	}
	program, err := exec.LookPath(h.Program)
	if err != nil {
		c.Live.Problem = "its program is not installed here"
		return
	}
	dir, err := os.MkdirTemp("", "stopgate-doctor-")
	if err != nil {
		c.Live.Problem = err.Error()
		return
	}
	defer os.RemoveAll(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // as hosts name it
	}
	ctx, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	if err := c.runLive(ctx, h, program, dir, project); err != nil {
		c.Live.Problem = err.Error()
	}
}

func (c *checkup) runLive(ctx context.Context, h *hook.Host, program, dir string, project bool) error {
	settings, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	guarded, err := c.runOnce(ctx, h, program, filepath.Join(dir, "guarded"), project, settings)
	switch {
	case guarded.ran:
		c.Live.Ran = true
		return errors.New("the call that must be denied RAN: the host does not ask the hook, or does not listen to it")
	case hook.IsPolicyDenial(guarded.asked):
		c.Live.Proved = true
		return nil
	case guarded.asked == "" && err != nil:
		return fmt.Errorf("it could not be run: %w: %s", err, visible.Elide(guarded.said, 300))
	case guarded.asked == "":
		return errors.New("it did not ask the scripted model")
	}
	// Some hosts end the run on a denial without a message to the model. Then the call has to
	// run as soon as there is no hook.
	free, _ := c.runOnce(ctx, h, program, filepath.Join(dir, "free"), project, nil)
	if free.ran {
		c.Live.Proved = true
		return nil
	}
	return fmt.Errorf("the call did not run, but not because of the hook: %s", visible.Elide(guarded.said, 300))
}

// liveRun is the result of one run of a host.
type liveRun struct {
	ran   bool   // the call
	asked string // the requests to the model
	said  string // by the host
}

// runOnce runs the host in a home of its own, with its hook's settings or without them.
func (c *checkup) runOnce(ctx context.Context, h *hook.Host, program, dir string, project bool, settings []byte) (r liveRun, err error) {
	home, work := filepath.Join(dir, "home"), filepath.Join(dir, "work")
	mark := filepath.Join(dir, "mark")
	command := "touch " + visible.ShellWord(mark) + "; stopgate approvals list"
	model, err := newLiveModel(h.Live(hook.Model{}), command)
	if err != nil {
		return r, err
	}
	defer model.Close()
	host := h.Live(hook.Model{URL: model.URL, Name: liveModel, Prompt: "Do the work."})
	at := install.Location{Scope: install.User, Home: home, Dir: work} // without the variables of this process
	if project {
		at.Scope = install.Project
	}
	p, err := install.Make(h.Name, at, install.Command{})
	if err != nil {
		return r, err
	}
	files := map[string]string{filepath.Join(work, "README.md"): "A directory of stopgate doctor.\n"}
	for name, text := range host.Files {
		files[filepath.Join(home, name)] = strings.ReplaceAll(text, hook.WorkDir, work)
	}
	for _, dir := range []string{home, work} {
		if path := filepath.Join(dir, host.File); host.Beside != "" && path != p.File {
			files[path] = host.Beside
		}
		if err := os.MkdirAll(dir, 0o700); err != nil { // some hosts do not begin without
			return r, err
		}
	}
	if settings != nil {
		files[p.File] = string(settings)
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return r, err
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { // a hook of Cline is a program
			return r, err
		}
	}
	cmd := exec.CommandContext(ctx, program, host.Words...)
	cmd.Dir, cmd.WaitDelay = work, 5*time.Second
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "NO_COLOR=1", "CI=1", "OPENAI_API_KEY=sk-test", "NO_PROXY=127.0.0.1,localhost",
	}, host.Env...)
	out, err := cmd.CombinedOutput()
	r.asked, r.said = model.asked(), strings.TrimSpace(string(out))
	_, marked := os.Stat(mark)
	r.ran = marked == nil
	return r, err
}

// newLiveModel returns a model that makes one call and then ends its turn.
func newLiveModel(host hook.Live, command string) (*liveServer, error) {
	turns := []script.Turn{
		{Say: "One step.", Calls: []script.Call{{Tool: host.Tool, Args: host.Args(command)}}},
		{Say: "Done."},
	}
	var up http.Handler = googleModel(turns)
	if !host.Google {
		var err error
		if up, err = replay.New(replay.Options{Scenarios: []*replay.Scenario{{Model: liveModel, Turns: turns}}}); err != nil {
			return nil, err
		}
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

// liveServer is the scripted model and the requests that it received.
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
	case c.Live.Proved && c.Status == "untrusted":
		fmt.Fprintf(w, "  live: proved for a place that is trusted: there %s asked the hook, and the denied call did not run\n", c.program)
	case c.Live.Proved:
		fmt.Fprintf(w, "  live: proved: %s asked the hook, and the denied call did not run\n", c.program)
	default:
		fmt.Fprintf(w, "  live: not proved: %s\n", visible.Lines(c.Live.Problem))
	}
}
