package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// project is a directory in which a coding agent works under the starter for coding.
type project struct{ dir, home string }

func codingProject(t *testing.T) project {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := project{dir: filepath.Join(top, "proj"), home: filepath.Join(top, "home")}
	for _, dir := range []string{"src", "docs", "crates/core/src", "build-old"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		config.FileName: string(files[0].Text), "src/main.go": "package main\n", "src/lib.rs": "// x\n", "README.md": "# x\n", "Cargo.toml": "[package]\n", "go.mod": "module x\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// hookAnswer is what a hook answers and what it records.
type hookAnswer struct{ decision, reason, code string }

// asks gives one call to the hook program, as Claude Code does.
func (p project) asks(t *testing.T, tool string, args json.RawMessage) hookAnswer {
	t.Helper()
	program, err := exec.LookPath("stopgate")
	if err != nil {
		t.Fatal(err)
	}
	event, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": p.dir, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args, "tool_use_id": "t", "permission_mode": "default",
	})
	if err != nil {
		t.Fatal(err)
	}
	audit := filepath.Join(p.home, "audit.jsonl")
	os.Remove(audit)
	cmd := exec.Command(program, "hook", "claude-code", "--store", "memory", "--audit", audit, "--policy", filepath.Join(p.dir, config.FileName))
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(string(event))
	cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "CLAUDE_PROJECT_DIR=")
	var why strings.Builder
	cmd.Stderr = &why
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() == 2 {
		out = nil
	} else if err != nil {
		t.Fatalf("%s %.100s: %v", tool, args, err)
	}
	var answer struct {
		HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
	}
	s := hookAnswer{decision: "none"}
	if len(out) > 0 {
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		s.decision, s.reason = answer.HookSpecificOutput.PermissionDecision, answer.HookSpecificOutput.PermissionDecisionReason
	}
	if cmd.ProcessState.ExitCode() == 2 {
		s.decision, s.reason = "deny", why.String()
	}
	rows, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rows)) {
		var row struct{ Code string }
		if json.Unmarshal([]byte(line), &row) == nil && row.Code != "" {
			s.code = row.Code
		}
	}
	return s
}

func bash(command string) json.RawMessage {
	args, _ := json.Marshal(map[string]string{"command": command}) // of strings
	return args
}

// What cannot be known is asked, with a reason that says what is not known; no guard is
// named that did not match. Directories that the line makes are known.
func TestHookSaysWhatIsNotKnown(t *testing.T) {
	p := codingProject(t)
	if err := os.Symlink("loop", filepath.Join(p.dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, decision, code, reason string }{
		{"mkdir -p build && cd build && cmake ..", "ask", "rule_matched", "no rule knows this command"},
		{"rm -rf build && mkdir build && cd build && cmake .. && make -j4", "ask", "rule_matched", "throw away work"},
		{"cd /not/there && go test ./...", "ask", "rule_matched", "outside of the project"},
		{"git clone U ../x && cd ../x && go build ./...", "ask", "origin_unknown", "where a value comes from"}, // no prompt was reported
		{"cat src/../../x", "ask", "rule_matched", "outside of the project"},
		{"cat loop/x", "ask", "path_not_known", "a link cannot be followed"},
		{"cat src/main.go loop/x", "ask", "path_not_known", "write the path without '..'"},
		{"mkdir b && cat b/../.env", "deny", "rule_matched", "secrets"},
		{"cat loop/.env", "deny", "rule_matched", "secrets"},
		{"ln -s src b && cat b/../main.go", "ask", "path_not_known", "does not exist yet"},
		{`rm -rf "$HOME"`, "deny", "rule_matched", "destroys more"},
		{"rm -rf ../..", "deny", "rule_matched", "destroys more"},
		{"find / -delete", "deny", "rule_matched", "destroys more"},
		{"cat image > /dev/sda", "deny", "rule_matched", "destroys more"},
		{"cat $(ln -s src b) b/../main.go", "ask", "path_not_known", "does not exist yet"},
		{"cat b/../main.go & ln -s src b", "ask", "path_not_known", "does not exist yet"},
		{"cat b/../main.go | ln -s src b", "ask", "path_not_known", "does not exist yet"},
		{strings.Repeat("env -S ", 60_000) + "ls", "ask", "path_not_known", "split it into several calls"},
		{"echo " + strings.Repeat("=x ", 300), "ask", "path_not_known", "split it into several calls"},
		{"rm -rf /; " + strings.Repeat("env -S ", 60_000) + "ls", "deny", "rule_matched", "destroys more"},
		{"rm -rf {a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u}", "ask", "path_not_known", "too many ways"},
	} {
		s := p.asks(t, "Bash", bash(c.command))
		if s.decision != c.decision || s.code != c.code || !strings.Contains(s.reason, c.reason) {
			t.Errorf("%.60s: %+v, want %s %s %q", c.command, s, c.decision, c.code, c.reason)
		}
		if c.decision != "deny" && strings.Contains(s.reason, "secrets") {
			t.Errorf("%s: the reason names a guard that did not match: %s", c.command, s.reason)
		}
	}
}

// The calls of a day, drawn before the rules, through the hook program: nothing that is
// labelled safe is denied, and nothing else runs unasked.
func TestDayThroughTheHook(t *testing.T) {
	day, err := corpus.Day(corpus.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	p := codingProject(t)
	counts := map[string]int{}
	for _, c := range day {
		s := p.asks(t, c.Tool, c.Args)
		label := "session"
		if c.Safe != nil {
			label = map[bool]string{true: "safe", false: "unsafe"}[*c.Safe]
		}
		counts[label+": "+s.decision+" "+s.code]++
		switch {
		case label != "unsafe" && s.decision == "deny":
			t.Errorf("%s %s: denied: %.200s: %s", c.ID, c.Tool, c.Args, s.reason)
		case label == "unsafe" && s.decision == "none":
			t.Errorf("%s: runs unasked: %.200s", c.ID, c.Args)
		}
		if os.Getenv("STOPGATE_DAY") == "all" {
			t.Logf("%s %s %s %.160s: %s", label, s.decision, s.code, c.Args, s.reason)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[k], k)
	}
}

// Reading is free by place, and places are judged behind links.
func TestHookReadsByPlace(t *testing.T) {
	p := codingProject(t)
	for name, target := range map[string]string{"away": p.home, "near": "src", "cookies": filepath.Join(p.home, "Cookies"), "header": "/usr/include"} {
		if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ tool, args, decision string }{
		{"Read", "src/main.go", "none"},
		{"Read", "near/main.go", "none"},
		{"Read", "header/stdio.h", "none"},
		{"Read", "away/x", "ask"},
		{"Read", "cookies", "ask"},
		{"Read", "/proc/kcore", "ask"},
		{"Read", "/etc/hosts", "ask"},
		{"Read", filepath.Join(p.home, ".config/sops/age/keys.txt"), "ask"},
		{"Read", filepath.Join(p.home, ".ssh/id_rsa"), "deny"},
		{"Bash", "cat near/main.go", "none"},
		{"Bash", "cat away/x", "ask"},
		{"Bash", "cat cookies", "ask"},
		{"Bash", "head -5 ~/.m2/settings.xml", "ask"},
		{"Bash", "ls ~/go/pkg/mod", "none"},
	} {
		args := bash(c.args)
		if c.tool == "Read" {
			args, _ = json.Marshal(map[string]string{"file_path": c.args}) // of strings
		}
		s := p.asks(t, c.tool, args)
		if s.decision != c.decision || c.decision == "ask" && !strings.Contains(s.reason, "outside of the project") {
			t.Errorf("%s %s: %+v, want %s", c.tool, c.args, s, c.decision)
		}
	}
}

// A command that reads whole directories is asked only if a guarded file lies there now, or
// nobody can see whether one does.
func TestHookLooksAtTheDisk(t *testing.T) {
	p := codingProject(t)
	put := func(name string) {
		t.Helper()
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, want map[string]string) {
		t.Helper()
		for command, decision := range want {
			if s := p.asks(t, "Bash", bash(command)); s.decision != decision || decision == "ask" && s.code != "guarded_below" {
				t.Errorf("%s: %s: %+v, want %s", when, command, s, decision)
			}
		}
	}
	check("no repository", map[string]string{"git add -A": "ask", "grep -rn W src": "none", "grep -rn W .": "none", "rg -uu W": "none"})
	put(".git/config")
	check("clean", map[string]string{
		"grep -rn W src": "none", "grep -rn W src docs": "none", "rg -uu W src": "none", "rg --hidden W src": "none", "find src -exec cat {} +": "none", "find src -name '*.go' -exec grep -l W {} +": "none", "git add -A": "none", "git add .": "none", "git add src": "none",
		"cd " + p.dir + " && grep -rn W src": "none", "grep -rn W src | head -5": "none", "git add -A && git status": "none",
		// What is not seen, or not whole.
		"grep -rn W .": "ask", "grep -rn W": "ask", "grep -Rn W src": "ask", "rg -Luu W src": "ask", "rg --follow -uu W src": "ask", "find -L src -exec cat {} +": "ask", "grep -rn W none": "ask", "git grep W": "ask", "git log -p": "ask", "ls | xargs cat": "ask",
		"find src | xargs grep -r W": "none", "find src -exec grep -r W {} +": "ask", "find src -exec tail {} + -o -exec grep -R W {} +": "ask", "grep -rn W src/../src": "none", "bash -c 'grep -rn W src'": "none",
	})
	if err := os.Symlink("../docs", filepath.Join(p.dir, "src", "docs")); err != nil {
		t.Fatal(err)
	}
	put("docs/keys/.env")
	check("a secret beside", map[string]string{"grep -rn W src": "none", "grep -rn W docs": "ask", "git add -A": "ask", "rg -uu W docs": "ask", "rg W docs": "none", "grep -rn W src docs": "ask", "grep -Rn W src": "ask", "grep -rn --include='*.go' W docs": "none", "find docs -name '*.md' -exec cat {} +": "none", "grep -rn W src/docs": "ask"})
	if err := os.Symlink("../docs/keys/.env", filepath.Join(p.dir, "src", "notes")); err != nil {
		t.Fatal(err)
	}
	check("a link to it", map[string]string{"find src -exec cat {} +": "ask", "grep -rn W src": "ask", "rg W src": "none"})
}
