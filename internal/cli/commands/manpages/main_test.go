package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
)

// written writes all pages and returns them by name.
func written(t *testing.T) map[string]string {
	t.Helper()
	out, files := t.TempDir(), map[string]string{}
	if err := write(out, "v1.2.0", time.Unix(1_790_000_000, 0).UTC()); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(out, path)
			files[name] = string(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every command has a page with all its flags, pages carry the date and the version that were given,
// and nothing depends on the user, the clock or the time zone.
func TestPages(t *testing.T) {
	t.Chdir("../../../..")
	files := written(t)
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		page := files["man/man1/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"]
		if !strings.Contains(page, `"Sep 2026" "stopgate v1.2.0" "stopgate"`) {
			t.Errorf("%s: no page, or not of its version", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Deprecated == "" && !strings.Contains(page, `\fB--`+f.Name) {
				t.Errorf("%s: the page does not have --%s", cmd.CommandPath(), f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
				look(sub)
			}
		}
	}
	root := commands.New(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	look(root)
	for name, text := range files {
		if strings.HasPrefix(name, "man/") && strings.Contains(text, "spf13") {
			t.Errorf("%s names the tool that wrote it", name)
		}
	}
	var bash bytes.Buffer
	if err := root.GenBashCompletionV2(&bash, true); err != nil || bash.String() != files["completions/stopgate.bash"] {
		t.Errorf("completions of bash: %v", err)
	}

	t.Setenv("HOME", "/nonexistent")
	t.Setenv("XDG_STATE_HOME", "/nonexistent/state")
	t.Setenv("USER", "somebody")
	for name, text := range written(t) {
		if files[name] != text {
			t.Errorf("%s differs for another user", name)
		}
	}
}

// The page of the policy file has every word of the reference, but no table and no link to a page
// that a terminal cannot follow.
func TestPolicyPage(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/reference/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	page := prepare(string(text))
	if strings.Contains(page, ".md)") || strings.Contains(page, "](#") || strings.Contains(page, "|---") {
		t.Error("links or tables are left")
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, cell := range cellsOf(link().ReplaceAllString(line, "$1")) {
			if !strings.Contains(page, cell) {
				t.Errorf("the cell %q is lost", cell)
			}
		}
	}
}

func TestCells(t *testing.T) {
	for row, want := range map[string][]string{
		"| `a` | b, c |":     {"`a`", "b, c"},
		`| a \| b |  | c |`:  {"a | b", "c"},
		"| [`x`](y.md) | z|": {"[`x`](y.md)", "z"},
		"||":                 {""},
	} {
		if got := cellsOf(row); !slices.Equal(got, want) {
			t.Errorf("%s: %q", row, got)
		}
	}
}
