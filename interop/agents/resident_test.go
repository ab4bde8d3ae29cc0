package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/interop/gate"
)

// resident is a process that answers the hooks of a home.
type resident struct {
	*exec.Cmd
	program, home string
}

// serve starts a resident, in the environment that the agents get.
func serve(t *testing.T, binary, home string) *resident {
	t.Helper()
	r := &resident{program: filepath.Join(filepath.Dir(binary), "stopgate-hook"), home: home}
	r.Cmd = r.command("serve", "--idle", "0")
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.Process.Signal(syscall.SIGCONT)
		_ = r.Process.Signal(syscall.SIGTERM)
		_ = r.Wait()
	})
	r.status(t)
	return r
}

// status is what it says about itself. Who asks waits for two seconds, which is little on a
// machine on which agents start.
func (r *resident) status(t *testing.T) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		out, err := r.command("serve", "--status").CombinedOutput()
		if err == nil {
			return string(out)
		}
		if time.Now().After(end) {
			t.Fatalf("no resident: %v: %s", err, out)
		}
	}
}

func (r *resident) command(args ...string) *exec.Cmd {
	cmd := exec.Command(r.program, args...)
	cmd.Dir, cmd.Env = r.home, []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// answered is how many events it answered.
func (r *resident) answered(t *testing.T) (n int) {
	t.Helper()
	out := r.status(t)
	m := regexp.MustCompile(`: (\d+) events answered, 0 left`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal(out)
	}
	fmt.Sscan(m[1], &n)
	return n
}

// With a resident everything is as without it: what the policy lets run runs, what it denies
// does not and the model is told why, results are withheld, and with a broken policy nothing
// runs. A resident that hangs changes nothing.
func TestHookAsksResident(t *testing.T) {
	binary := gate.BuildBoth(t)
	each(t, func(t *testing.T, a *agent) {
		home := t.TempDir()
		r := serve(t, binary, home)
		before := 0
		run := func(t *testing.T, policy string, turns ...[]string) (m *model, work, out string) {
			t.Helper()
			m, work = newModel(t, a, turns...), t.TempDir()
			for name := range a.files(m.URL) { // they name the model
				if err := os.Remove(filepath.Join(home, name)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
			a.settings(t, home, m.URL)
			a.install(t, binary, home, policy)
			return m, work, a.run(t, home, work, m.URL)
		}
		asked := func(t *testing.T) {
			t.Helper()
			now := r.answered(t)
			if now == before {
				t.Error("the hooks did not ask the resident")
			}
			before = now
		}
		m, work, out := run(t, policy, steps...)
		a.went(t, m, work, out)
		asked(t)
		if _, work, out = run(t, "version = \n", steps...); exists(work, "one") || exists(work, "forbidden") {
			t.Errorf("a call ran under a broken policy\n%s", out)
		}
		asked(t)
		m, work, out = run(t, withholding, []string{"touch one; echo what-the-call-''printed"})
		if kept := a != qwen && a != cline; !exists(work, "one") || strings.Contains(m.asked(), "what-the-call-printed") == kept {
			t.Errorf("the call ran: %v; the model read its result: %v\n%s", exists(work, "one"), kept, out)
		}
		asked(t)
		if err := r.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		m, work, out = run(t, policy, steps...)
		a.went(t, m, work, out)
	})
}

// elsewhere are the variables that say where an agent's settings are, and what they stand for
// below the home directory.
var elsewhere = map[*agent][2]string{
	codex: {"CODEX_HOME", ".codex"}, opencode: {"XDG_CONFIG_HOME", ".config"}, kilo: {"XDG_CONFIG_HOME", ".config"}, qwen: {"QWEN_HOME", ".qwen"}, pi: {"PI_CODING_AGENT_DIR", ".pi/agent"},
	geminiCLI: {"GEMINI_CLI_HOME", ""}, claudeCode: {"CLAUDE_CONFIG_DIR", ".claude"}, copilotCLI: {"COPILOT_HOME", ".copilot"},
}

// An agent whose settings are elsewhere finds the hook there.
func TestHookElsewhere(t *testing.T) {
	binary := gate.BuildBoth(t)
	movable := slices.DeleteFunc(slices.Clone(agents), func(a *agent) bool { _, ok := elsewhere[a]; return !ok })
	eachOf(t, movable, func(t *testing.T, a *agent) {
		where := elsewhere[a]
		home, work := t.TempDir(), t.TempDir()
		dir := filepath.Join(home, "elsewhere")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		b := *a
		b.env = append([]string{where[0] + "=" + dir}, a.env...)
		b.files = func(base string) map[string]string {
			moved := map[string]string{}
			for name, text := range a.files(base) {
				moved[filepath.Join("elsewhere", strings.TrimPrefix(name, where[1]))] = text
			}
			return moved
		}
		m := newModel(t, &b, steps...)
		b.settings(t, home, m.URL)
		b.install(t, binary, home, policy)
		b.went(t, m, work, b.run(t, home, work, m.URL))
	})
}
