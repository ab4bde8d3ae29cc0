package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
)

// excerpt matches a line of a policy file under a finding, which stays whole.
var excerpt = regexp.MustCompile(`^ +\d* *\| `)

// inWindow runs a command at a terminal of some columns and returns all that it writes.
func inWindow(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(master, &pty.Winsize{Cols: columns, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the other side is closed
		read <- string(text)
	}()
	run(args, cli.Streams{In: strings.NewReader(""), Out: slave, Err: slave})
	slave.Close()
	return strings.ReplaceAll(<-read, "\r\n", "\n")
}

// drawn are characters that a screen reader reads as noise: boxes, blocks and spinners.
var drawn = regexp.MustCompile(`[\x{2500}-\x{259f}\x{2800}-\x{28ff}]`)

// fitsWindow reports every line of a text that is longer than a window and could be broken.
func fitsWindow(t *testing.T, columns int, args []string, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.Fields(line)
		whole := slices.ContainsFunc(words, func(w string) bool { return ansi.StringWidthWc(w) > columns-10 })
		if ansi.StringWidthWc(line) > columns && len(words) > 1 && !whole && !excerpt.MatchString(line) {
			t.Errorf("%d columns, %v: longer than the window: %q", columns, args, line)
		}
	}
}

// The help of every command, and the outputs of the main ones, fit windows of 60 to 200 columns. Without
// colours they have no escapes, and never box characters.
func TestWidths(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Chdir(dir)
	const rules = "version = 1\nuse = [\"git\"]\n[tools.write_a_file_with_a_long_name.policy]\nrun = [{ arg = \"/path\", prefix = \"src\", mode = \"unattended\" }, { mode = \"ask\" }]\n[tools.t.policy]\nrun = \"ask\"\n"
	if err := os.WriteFile("stopgate.toml", []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("stopgate.test.toml", []byte("policy = \"stopgate.toml\"\n[[case]]\nname = \"a\"\ntool = \"t\"\nargs = { a = 1 }\nexpect = \"ask\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("other.toml", []byte(strings.Replace(rules, `"ask" }]`, `"deny" }]`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("wrong.toml", []byte("version = 1\n[tools.t.policy]\nrun = [{ arg = \"/path\", prefix = \"src\", mode = \"unatended\" }]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := dir + "/s.db"
	if err := seedStore(store, "", "stopgate.toml", "version = 1\n[tools.t.policy]\nrun = \"ask\"\n", strings.Repeat("s t {\"a\":1}\n", 6)+"s u {\"x\":\"no\"}\n"); err != nil {
		t.Fatal(err)
	}
	lines := [][]string{
		{"check"}, {"check", "wrong.toml"}, {"check", "--reach"}, {"test"}, {"test", "--verbose", "--coverage"}, {"diff", "stopgate.toml", "other.toml"},
		{"decide", "--policy", "stopgate.toml", "--tool", "write_a_file_with_a_long_name", "--args", `{"path":"docs/a"}`},
		{"explain", "--policy", "stopgate.toml", "--tool", "write_a_file_with_a_long_name", "--args", `{"path":"docs/a"}`},
		{"explain", "no_approver"}, {"explain", "SG0107"}, {"packs"}, {"report", store}, {"log", "--store", "sqlite:" + store}, {"log", "verify", store},
		{"sessions", "--store", "sqlite:" + store}, {"grants", "--store", "sqlite:" + store}, {"approvals", "list", "--all", "--store", "sqlite:" + store},
		{"replay", "--policy", "stopgate.toml", store}, {"doctor"}, {"version"}, {"lockdown", "--status", "--store", "sqlite:" + store}, {"nothing"}, {"approvals", "show", "X", "--store", "sqlite:" + store},
		{"health"}, {"check", "--nothing"}, {"log", "show", "X", "--store", "sqlite:" + store},
	}
	var help func(cmd *cobra.Command)
	help = func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() || cmd.Parent() == nil {
			lines = append(lines, append(strings.Fields(cmd.CommandPath())[1:], "--help"))
		}
		for _, sub := range cmd.Commands() {
			help(sub)
		}
	}
	help(commands.New(cli.Streams{}))
	for _, plain := range []map[string]string{{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}} {
		for name := range map[string]bool{"TERM": true, "NO_COLOR": true} {
			t.Setenv(name, plain[name])
		}
		widths := []int{60, 80, 120, 200}
		if len(plain) == 1 && plain["TERM"] == "dumb" || plain["NO_COLOR"] != "" {
			widths = []int{80}
		}
		for _, columns := range widths {
			for _, args := range lines {
				text := inWindow(t, uint16(columns), args...)
				fitsWindow(t, columns, args, text)
				if found := drawn.FindString(text); found != "" {
					t.Errorf("%v: draws %q", args, found)
				}
				if (plain["TERM"] == "dumb" || plain["NO_COLOR"] != "") && strings.Contains(text, "\x1b") {
					t.Errorf("%v %v: escapes in %q", plain, args, text)
				}
			}
		}
	}
	for _, args := range lines {
		var out strings.Builder
		run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		if text := out.String(); strings.Contains(text, "\x1b") || drawn.MatchString(text) {
			t.Errorf("%v: %q", args, text)
		}
	}
}
