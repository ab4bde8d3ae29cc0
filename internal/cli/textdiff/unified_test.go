package textdiff_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"equal", "a\n", "a\n", ""},
		{"first line", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "--- f\n+++ f\n@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n"},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n3\n4\n5\n6\n7\n8\n9\n0\n",
			"--- f\n+++ f\n@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -7,3 +6,4 @@\n 7\n 8\n 9\n+0\n"},
		{"near changes are one hunk", "1\n2\n3\n4\n", "0\n2\n3\n5\n", "--- f\n+++ f\n@@ -1,4 +1,4 @@\n-1\n+0\n 2\n 3\n-4\n+5\n"},
		{"no newline", "a\nb", "a\nb\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"from nothing", "", "a\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"},
		{"to nothing", "a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"},
	} {
		if got := textdiff.Unified("f", c.before, c.after); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The output of Unified, applied as patch does, turns the first text into the second.
func TestUnifiedApplies(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "}"}), 0, 20).Draw(t, "lines")
		return strings.Join(append(lines, rapid.SampledFrom([]string{"", "end"}).Draw(t, "end")), "\n")
	})
	property.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		diff := textdiff.Unified("f", before, after)
		var from, to []string // the lines of both texts in the diff
		rest := before
		got := ""
		for i, line := range strings.SplitAfter(diff, "\n") {
			if i < 2 || line == "" || strings.HasPrefix(line, "\\") {
				continue
			}
			if strings.HasPrefix(line, "@@") {
				var err error
				if got, rest, err = skipTo(line, got, rest, before); err != nil {
					t.Fatal(err, diff)
				}
				continue
			}
			content := line[1:]
			if next := strings.Index(diff, line+"\\ No newline"); next >= 0 && !strings.HasPrefix(rest, content) {
				content = strings.TrimSuffix(content, "\n")
			}
			if line[0] != '+' {
				from = append(from, content)
				var ok bool
				if rest, ok = strings.CutPrefix(rest, content); !ok {
					t.Fatalf("%q is not next in %q\n%s", content, rest, diff)
				}
			}
			if line[0] != '-' {
				to = append(to, content)
				got += content
			}
		}
		if strings.TrimSuffix(got+rest, "\n") != strings.TrimSuffix(after, "\n") {
			t.Fatalf("the diff makes %q, want %q\n%s", got+rest, after, diff)
		}
	})
}

// skipTo copies the unchanged lines before a hunk.
func skipTo(header, got, rest, before string) (string, string, error) {
	var start int
	for _, c := range header[len("@@ -"):] {
		if c < '0' || c > '9' {
			break
		}
		start = start*10 + int(c-'0')
	}
	for strings.Count(before[:len(before)-len(rest)], "\n") < start-1 {
		i := strings.Index(rest, "\n") + 1
		got, rest = got+rest[:i], rest[i:]
	}
	return got, rest, nil
}

// The patch tool agrees, if it is installed.
func TestPatchAgrees(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("no patch")
	}
	dir := t.TempDir()
	before, after := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", "b\nc\nD\ne\nf\ng\nh\nI\nj\nk"
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(patch, file)
	cmd.Stdin = strings.NewReader(textdiff.Unified("f", before, after))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if got, _ := os.ReadFile(file); string(got) != after {
		t.Errorf("%q", got)
	}
}
