package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// looks are the terminals that people have: how wide, and what they can show.
var looks = []struct {
	columns uint16
	env     []string
	plain   bool // no escapes at all
	pale    bool // no colours
}{
	{60, nil, false, false}, {80, nil, false, false}, {120, nil, false, false}, {200, nil, false, false},
	{80, []string{"NO_COLOR=1"}, false, true}, {80, []string{"TERM=dumb"}, true, true},
}

var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// policyText matches rules and lines of a file's difference, which stay whole: they can be copied.
var policyText = regexp.MustCompile(`^ *\{ |^ *[ +-] {0,2}\S+.*(= |#)`)

// valueText matches the values of a question, which stay whole.
var valueText = regexp.MustCompile(`(?m)^ {4}\S.*$`)

// plainly checks all that a command wrote to a terminal: without boxes where it is plain, and without escapes or colours.
func plainly(t *testing.T, plain, pale bool, args []string, text string) {
	t.Helper()
	if found := drawn.FindString(text); plain && found != "" {
		t.Errorf("%v: draws %q", args, found)
	}
	if plain && strings.Contains(text, "\x1b") || pale && colour.MatchString(text) {
		t.Errorf("%v: escapes in %q", args, text)
	}
}

// What learn, approvals watch and the agent at its start show fits windows of 60 to 200 columns; rules, changes of files and values stay whole. They
// have no colours where nobody wants them, and no escapes and boxes on a terminal that cannot draw.
func TestConversationsAtTerminals(t *testing.T) {
	for _, look := range looks {
		at := &pty.Winsize{Cols: look.columns, Rows: 50}
		env := func(base []string) []string {
			return append(append(base[:len(base):len(base)], "TERM=xterm", "NO_COLOR="), look.env...)
		}
		dir := t.TempDir()
		file, store := filepath.Join(dir, "stopgate.toml"), filepath.Join(dir, "records.db")
		if err := os.WriteFile(file, []byte(learnedFrom), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := seedStoreAt(store, "", file, learnedFrom, strings.ReplaceAll(learnedCalls, `"no"`, `"no way/../x"`), minutes()); err != nil {
			t.Fatal(err)
		}
		own := &server{cmd: &exec.Cmd{Dir: dir, Env: env(append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR="))}}
		x := atTerminalOf(t, own, at, "learn", "--policy", "stopgate.toml", "--store", "records.db")
		x.sees(`[0-9a-f]{8}: `)
		x.presses("d", `newly\s+permits`)
		x.presses("q", `Nothing\s+was\s+written`)
		_ = x.cmd.Wait()
		<-x.read
		plainly(t, true, true, []string{"learn"}, x.all.String())
		var lines []string
		for line := range strings.Lines(strings.ReplaceAll(x.all.String(), "\r\n", "\n")) {
			if !policyText.MatchString(line) {
				lines = append(lines, line)
			}
		}
		fitsWindow(t, int(look.columns), []string{"learn"}, strings.Join(lines, ""))

		api := newAPI(t)
		watcher := &server{cmd: &exec.Cmd{Dir: api.cmd.Dir, Env: env(api.cmd.Env)}}
		x = atTerminalOf(t, watcher, at, "approvals", "watch", "--policy", "p.toml")
		x.sees("Waiting for questions")
		answered := api.proposes(t)
		x.sees("README")
		x.sees("> ")
		x.presses("?", `both\s+\?`)
		x.presses("a", `this file: README`)
		x.insists("r no", `Denied: `)
		<-answered
		x.cmd.Process.Signal(os.Interrupt)
		_ = x.cmd.Wait()
		<-x.read
		plainly(t, look.plain, look.pale, []string{"approvals", "watch"}, x.all.String())
		said := strings.ReplaceAll(x.all.String(), "\r\n", "\n")
		fitsWindow(t, int(look.columns), []string{"approvals", "watch"}, valueText.ReplaceAllString(said, ""))
		for _, part := range []string{
			`a model \(session s\) wants to run fs_create_file`, `because a rule of the policy wants a person to look at it \(p\.toml:\d+\)`, `question [A-Z2-7]{26}, asked \d+ s ago, can be answered for \d+ min`,
			`\[y\] run it once \[a\] always \[e\] edit \[n\] no \[r WHY\] no, and say why \[p\] print in full \[s\] later \[\?\] help`,
			`fs_create_file runs unasked for README, with any /content; its other values stay the same`,
		} {
			if !regexp.MustCompile(part).MatchString(strings.Join(strings.Fields(said), " ")) {
				t.Errorf("%d columns: %s is not in\n%s", look.columns, part, said)
			}
		}

		home, base := agentHome(t, map[string]string{"script": writeScript})
		s := sitDownBefore(t, look.columns, home, env(base), nil, "--script", "script", "--pace", "0")
		enter, prompt := "\r", "(?m)^>$"
		if look.plain {
			enter, prompt = "\n", "Write what it shall do"
		}
		s.sees(prompt)
		s.types("write" + enter)
		s.sees("y once")
		s.types("n" + enter)
		s.sees("And again|Done|refused")
		s.types("\x04")
		s.ends(0)
		plainly(t, look.plain, look.pale, []string{"agent"}, s.written())
		greeting, _, _ := strings.Cut(strings.ReplaceAll(ansi.Strip(s.written()), "\r", ""), "leaves.")
		fitsWindow(t, int(look.columns), []string{"agent"}, greeting)
		if got := strings.Join(strings.Fields(greeting), " "); !strings.Contains(got, "no model is set up (--model NAME) Write what it shall do. ? explains, Ctrl-D") {
			t.Errorf("%d columns: %q", look.columns, got)
		}
	}
}
