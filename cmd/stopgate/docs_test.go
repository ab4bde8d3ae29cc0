package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// pages are the documents whose blocks are executed.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../docs/reference/*.md")
	if err != nil || len(list) == 0 {
		t.Fatalf("no reference pages: %v", err)
	}
	if _, err := exec.LookPath("minisign"); err == nil { // make test installs it
		list = append(list, "../../docs/bundles.md")
	}
	instead, err := filepath.Glob("../../docs/instead-of/*.md")
	if err != nil || len(instead) == 0 {
		t.Fatalf("no pages on other products: %v", err)
	}
	list = append(list, instead...)
	return append(list, "../../docs/README.md", "../../docs/coming-from/jp.md", "../../docs/coming-from/tool-policies.md", "../../docs/flow.md", "../../docs/tutorial.md", "../../docs/operations.md", "../../docs/mcp.md", "../../docs/agent.md", "../../README.md")
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)(?: ([^\n ]+))?\n(.*?)^```$")

// TestDocumentation executes what the documents show, in their order, in a
// directory for each document:
//
//   - a block with a file name after its language is that file,
//   - a toml block without one is a policy, or a part of one, without mistakes,
//   - a console block is a transcript: a line that begins with "$ " is run by sh,
//     the lines after it are what it prints; "..." stands for the rest of a line
//     and any number of lines, or for a part of a line,
//     and "$ cat FILE" of a file that is not there yet writes it.
//
// With -update the transcripts are written anew.
func TestDocumentation(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			d := document{dir: t.TempDir()}
			done := fence.ReplaceAllStringFunc(string(text), func(block string) string {
				m := fence.FindStringSubmatch(block)
				switch language, name, body := m[1], m[2], m[3]; {
				case name != "":
					d.write(t, name, body)
				case language == "toml":
					wholesome(t, body)
				case language == "console":
					return "```console\n" + d.transcript(t, body) + "```"
				}
				return block
			})
			if *update && done != string(text) {
				if err := os.WriteFile(page, []byte(done), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type document struct{ dir string }

func (d document) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// transcript runs the commands of a console block, compares what they print, and
// returns the block as it should be.
func (d document) transcript(t *testing.T, body string) string {
	t.Helper()
	var out strings.Builder
	for i, piece := range strings.Split("\n"+body, "\n$ ") {
		if i == 0 {
			continue
		}
		command, want, _ := strings.Cut(piece, "\n")
		for strings.HasSuffix(command, `\`) {
			more, rest, _ := strings.Cut(want, "\n")
			command, want = command+"\n"+more, rest
		}
		want = strings.TrimSuffix(want, "\n")
		got := want
		if !d.shown(t, command, want) {
			got = d.run(command)
		}
		if !fits(got, want) && !*update {
			t.Errorf("$ %s\nprints:\n%s\nthe document says:\n%s", command, got, want)
		}
		if fits(got, want) {
			got = want
		}
		fmt.Fprintf(&out, "$ %s\n", command)
		if got != "" {
			fmt.Fprintf(&out, "%s\n", got)
		}
	}
	return out.String()
}

// shown writes a file that the document shows with cat.
func (d document) shown(t *testing.T, command, text string) bool {
	name, ok := strings.CutPrefix(command, "cat ")
	if !ok {
		return false
	}
	if _, err := os.Stat(filepath.Join(d.dir, name)); err == nil {
		return false
	}
	d.write(t, name, text+"\n")
	return true
}

func (d document) run(command string) string {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = d.dir
	cmd.Env = atHome(filepath.Join(d.dir, "home"))
	out, _ := cmd.CombinedOutput() // exit codes are shown with echo $?
	return strings.TrimSuffix(string(out), "\n")
}

// fits compares an output with what a document shows of it.
func fits(got, want string) bool {
	pattern := regexp.QuoteMeta("\n" + want + "\n")
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", "(?:.*\n)*")
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString("\n" + got + "\n")
}

// wholesome checks a policy, or a part of one, that a document shows.
func wholesome(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(text, "version = ") {
		text = "version = 1\n" + text
	}
	p, found := parser.Parse(kinds.Table(), "snippet", []byte(text))
	if p != nil {
		found = append(found, prove.Check(p, policy.Options{})...)
		found = append(found, tables.Check(p)...)
	}
	if found.HasErrors() {
		t.Errorf("%s\n%s", text, diag.Text(found, func(string) []byte { return []byte(text) }))
	}
}
