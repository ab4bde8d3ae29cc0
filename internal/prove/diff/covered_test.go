package diff_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// Edits of usages that another rule of the same mode covers, of rules that no command meets and
// of rules below one with the same conditions change nothing, and that is decided; where a
// command tells them apart, it is shown.
func TestDiffOfCoveredUsages(t *testing.T) {
	const head = "version = 1\n[tools.t.parameters]\nc = { type = \"command\", required = true }\n[tools.t.policy]\nrun = [\n"
	const (
		look  = `  { arg = "/c", usage = ["git {log,show} [-*] **", "cat **"], mode = "unattended" },`
		more  = `  { arg = "/c", usage = ["git log [-p] *", "tac **"], mode = "unattended" },`
		less  = `  { arg = "/c", usage = "tac **", mode = "unattended" },`
		push  = `  { arg = "/c", usage = "git {push,fetch} **", mode = "deny" },`
		log   = `  { arg = "/c", usage = "git log **", mode = "deny" },`
		both  = `  { all = [{ arg = "/c", usage = ["git {log,show} [-*] **", "cat **"] }, { arg = "/c", reads = "**" }], mode = "unattended" },`
		plain = `  { arg = "/c", usage = "git {log,show} [-p]", mode = "unattended" },`
		end   = `  { mode = "ask" },`
	)
	for _, c := range []struct {
		name     string
		old, new []string
		want     string // the directions shown
	}{
		{"a usage that a rule above covers", []string{look, more, end}, []string{look, less, end}, ""},
		{"a usage that a rule below covers", []string{more, look, end}, []string{less, look, end}, ""},
		{"one that a rule below covers, behind one that suspects values", []string{more, push, look, end}, []string{less, push, look, end}, "tightened"},
		{"one that another rule judges first", []string{more, log, look, end}, []string{less, log, look, end}, "tightened"},
		{"a usage that nothing covers", []string{less, end}, []string{more, end}, "loosened"},
		{"a rule for words that nothing below permits", []string{push, look, end}, []string{strings.Replace(push, "deny", "ask", 1), look, end}, "loosened"},
		{"a rule that finds its words in values of what is permitted", []string{strings.Replace(push, "deny", "ask", 1), look, end}, []string{look, end}, "loosened"},
		{"a rule for words that no other rule lets run", []string{strings.Replace(push, "deny", "ask", 1), plain, end}, []string{plain, end}, ""},
		{"a rule below one with its conditions", []string{look, both, end}, []string{look, look, end}, "tightened"},
	} {
		old, new := withLists(head+strings.Join(c.old, "\n")+"\n]\n"), withLists(head+strings.Join(c.new, "\n")+"\n]\n")
		d, a, b := diff.Files(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(new)}, policy.Options{}, nil)
		if d == nil {
			t.Fatal(a, b)
		}
		shown := map[diff.Direction]bool{}
		for _, change := range d.Changes {
			shown[change.Direction] = true
		}
		if !d.Complete || len(shown) > 1 || c.want == "" && len(shown) > 0 || c.want != "" && !shown[diff.Direction(c.want)] {
			t.Errorf("%s: %v, complete: %v %v", c.name, shown, d.Complete, d.Open)
		}
	}
}

// withLists moves arrays of values into named lists.
func withLists(text string) string {
	lists := "[lists]\n"
	written := regexp.MustCompile(`(usage|glob|outside) = (\[[^=]*?"\])`)
	text = written.ReplaceAllStringFunc(text, func(found string) string {
		parts := written.FindStringSubmatch(found)
		name := fmt.Sprintf("l%d", len(parts[2]))
		if line := name + " = " + parts[2] + "\n"; !strings.Contains(lists, line) {
			lists += line
		}
		return fmt.Sprintf("%s_in = %q", parts[1], name)
	})
	return text + lists
}

// Paths below a home and places of a project are compared in directories that are assumed,
// where no file names them.
func TestDiffBelowAHome(t *testing.T) {
	const text = "version = 1\n[tools.t.parameters]\npath = { type = \"path\", required = true }\n[tools.t.policy]\nrun = \"unattended\"\n" +
		"[[guard]]\non = \"path\"\noutside = [\"**\", \"~/go/**\", \"~/.cargo/**\"]\nmode = \"ask\"\n"
	d, a, b := diff.Files(policy.Source{Name: "old.toml", Text: []byte(withLists(text))}, policy.Source{Name: "new.toml", Text: []byte(withLists(strings.Replace(text, `"~/go/**", `, "", 1)))}, policy.Options{}, nil)
	if d == nil {
		t.Fatal(a, b)
	}
	if !d.Complete || len(d.Changes) != 1 || d.Changes[0].Direction != diff.Tightened || !strings.Contains(string(d.Changes[0].Witness.Args), "/go") || len(d.Assumed) != 1 {
		t.Errorf("%+v", d)
	}
}
