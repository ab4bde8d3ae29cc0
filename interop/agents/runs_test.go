package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// policy denies commands by a word in them.
// Codex asks the provider for its web search.
const policy = `version = 1

[gateway]
server_tools = ["web_search"]

[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = [
  { arg = "/command", pattern = "forbidden", mode = "deny", reason = "this file is not for agents" },
  { arg = "/cmd", pattern = "forbidden", mode = "deny", reason = "this file is not for agents" },
  { arg = "/commands/*", pattern = "forbidden", mode = "deny", reason = "this file is not for agents" },
  { mode = "unattended" },
]
`

// steps are what the model does: the second has a call that must not run beside one
// that must.
var steps = [][]string{{"touch one"}, {"touch forbidden", "touch three"}}

// each runs a test with every agent.
func each(t *testing.T, run func(t *testing.T, a *agent)) { eachOf(t, agents, run) }

// eachOf runs a test with some of them.
func eachOf(t *testing.T, some []*agent, run func(t *testing.T, a *agent)) {
	for _, a := range some {
		t.Run(a.name, func(t *testing.T) { run(t, a) })
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// went says that the agent did what it may, not what it may not, and came to its end.
func (a *agent) went(t *testing.T, m *model, work, out string) {
	t.Helper()
	if a.ends {
		if !exists(work, "one") || exists(work, "forbidden") {
			t.Errorf("the first call did not run, or the denied one did\n%s", out)
		}
		return
	}
	if !exists(work, "one") || !exists(work, "three") {
		t.Errorf("a call that may run did not\n%s", out)
	}
	if exists(work, "forbidden") {
		t.Errorf("a denied call ran\n%s", out)
	}
	// The script's end comes a turn early where the denial is a message of its own.
	if !strings.Contains(out, "All steps are done") && !strings.Contains(out, "nothing left to do") {
		t.Errorf("the agent did not go on\n%s", out)
	}
	if !strings.Contains(m.asked(), "this file is not for agents") {
		t.Errorf("the model was not told why\n%s", out)
	}
}

// Without a gate everything runs: what the other tests find missing is its doing.
func TestAlone(t *testing.T) {
	each(t, func(t *testing.T, a *agent) {
		m := newModel(t, a, steps...)
		work := t.TempDir()
		out := a.run(t, t.TempDir(), work, m.URL)
		if !exists(work, "one") || !exists(work, "forbidden") || !exists(work, "three") {
			t.Errorf("the script does not fit this version of the agent\n%s", out)
		}
		knows(t, a, m.asked())
	})
}

// Behind the gateway the denied call does not run, and the agent goes on.
func TestGateway(t *testing.T) {
	binary := gate.Build(t)
	each(t, func(t *testing.T, a *agent) {
		if a.gemini {
			t.Skip("the gateway does not serve Google's API")
		}
		m := newModel(t, a, steps...)
		g := gate.Up(t, binary, m.URL, policy)
		work := t.TempDir()
		onGateway := *a
		onGateway.ends = false // there a denial is a text of the model
		onGateway.went(t, m, work, a.run(t, t.TempDir(), work, g.URL))
	})
}

// install puts the hook into the settings below home, with a policy file.
func (a *agent) install(t *testing.T, binary, home, policy string, more ...string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "stopgate.toml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, append([]string{"install", a.host, "--user", "--policy", file}, more...)...)
	cmd.Env = append(append(os.Environ(), gate.Home(home)...), a.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("stopgate install: %v\n%s", err, out)
	}
	return file
}

// With the hook in its settings the agent asks before every call: the denied one does
// not run, and the model is told why.
func TestHook(t *testing.T) {
	binary := gate.BuildBoth(t)
	each(t, func(t *testing.T, a *agent) {
		m := newModel(t, a, steps...)
		home, work := t.TempDir(), t.TempDir()
		a.settings(t, home, m.URL)
		a.install(t, binary, home, policy)
		a.went(t, m, work, a.run(t, home, work, m.URL))
	})
}

// A hook that cannot decide, here for want of a readable policy, lets nothing run.
func TestHookFails(t *testing.T) {
	binary := gate.BuildBoth(t)
	each(t, func(t *testing.T, a *agent) {
		m := newModel(t, a, steps...)
		home, work := t.TempDir(), t.TempDir()
		a.settings(t, home, m.URL)
		file := a.install(t, binary, home, policy)
		if err := os.WriteFile(file, []byte("version = \n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out := a.run(t, home, work, m.URL)
		if exists(work, "one") || exists(work, "three") || exists(work, "forbidden") {
			t.Errorf("a call ran\n%s", out)
		}
	})
}

// What `stopgate doctor --live` says of each: it asks the hook, and the call does not run.
func TestDoctor(t *testing.T) {
	binary := gate.BuildBoth(t)
	bin, err := filepath.Abs(filepath.Join("node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, a *agent) {
		home := t.TempDir()
		a.settings(t, home, "http://127.0.0.1:9")
		a.install(t, binary, home, policy)
		cmd := exec.Command(binary, "doctor", a.host, "--live")
		cmd.Dir = t.TempDir()
		cmd.Env = append(append(os.Environ(), gate.Home(home)...), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		ok := err == nil && strings.Contains(string(out), "live: proved:")
		if a == codex { // nobody has trusted the hook there
			ok = err != nil && strings.Contains(string(out), "codex: UNTRUSTED: Codex runs no hook") && strings.Contains(string(out), "live: proved for a place that is trusted:")
		}
		if !ok {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	})
}

// Doctor believes of Codex's trust what Codex says: a hook of a project guards when the project
// and the hook are trusted, and not before.
func TestDoctorKnowsWhatCodexTrusts(t *testing.T) {
	binary := gate.BuildBoth(t)
	bin, err := filepath.Abs(filepath.Join("node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "codex")); err != nil {
		t.Skip("codex is not installed")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Env = work, append(append(os.Environ(), gate.Home(home)...), "PATH="+bin+":"+os.Getenv("PATH"), "CODEX_HOME=")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	run("install", "codex", "--project")
	if out := run("doctor", "codex", "--live"); !strings.Contains(out, "Codex loads no hooks of a project that you have not trusted") || !strings.Contains(out, "live: proved for a place that is trusted") {
		t.Errorf("untrusted: %s", out)
	}
	settings := filepath.Join(home, ".codex", "config.toml")
	if err := os.WriteFile(settings, []byte("[projects.\""+work+"\"]\ntrust_level = \"trusted\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run("doctor", "codex"); !strings.Contains(out, "Codex runs no hook before you have reviewed it") {
		t.Errorf("a trusted project: %s", out)
	}
}
