package early_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program asks before the policy and the store are initialised: in a state directory in
// which a listener waits, nothing of them has begun when the question comes.
func TestAsksBeforeTheRestIsInitialised(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	program := filepath.Join(t.TempDir(), "stopgate-hook")
	if out, err := exec.Command("go", "build", "-o", filepath.Dir(program), "..", "../../stopgate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	home, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	env := append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
	resident := exec.Command(program, "serve")
	resident.Env = env
	talk, err := resident.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := resident.Start(); err != nil {
		t.Fatal(err)
	}
	defer resident.Wait()
	defer resident.Process.Signal(os.Interrupt)
	if n, err := talk.Read(make([]byte, 500)); n == 0 {
		t.Fatal(err) // it says when it listens
	}
	cmd := exec.Command(program, "claude-code")
	cmd.Env = append(env, "GODEBUG=inittrace=1")
	cmd.Stdin = strings.NewReader(`{"session_id":"s","cwd":"/srv","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"stopgate approvals"},"tool_use_id":"t"}`)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "protected_target") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, pkg := range []string{"stopgate/policy", "modernc.org/", "database/sql", "golang.org/x/text"} {
		if strings.Contains(string(out), pkg) {
			t.Errorf("%s is initialised before the answer\n%s", pkg, out)
		}
	}
}
