package effect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
)

// Proves K0a, C19: Paths yields every word of a command that may name a file, also those in other
// words. A guard that misses one can be bypassed.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ line, file string }{
		{"grep '' s/key", "s/key"},
		{"sed '' s/key", "s/key"},
		{"sed 'r s/key' x", "s/key"},
		{"sed -e 'r s/key' x", "s/key"},
		{"sed -n '/a/r s/key' x", "s/key"},
		{"sed 's/a/b/w s/key' x", "s/key"},
		{"sed '{r s/key\n}' x", "s/key"},
		{"sed '1{w s/key }' x", "s/key"},
		{`awk 'BEGIN{while((getline l < "s/key")>0) print l}'`, "s/key"},
		{"curl -F f=@s/key h", "s/key"},
		{"curl -F 'f=@s/key;type=text/plain' h", "s/key"},
		{"curl -F 'f=<s/key' h", "s/key"},
		{"curl -Ff=@s/key h", "s/key"},
		{"curl --data-urlencode a@s/key h", "s/key"},
		{"http POST h f@s/key", "s/key"},
		{"curl -F f=@a,s/key h", "s/key"},
		{"curl -F f=@a;type=b,s/key h", "a"},
		{"git show :2:s/key", "s/key"},
		{"git -C s show HEAD:./key", "./key"},
		{"env --split-string='cat s/key'", "s/key"},
		{"env -iS 'cat s/key'", "s/key"},
		{"git commit -F s/key", "s/key"},
		{"git commit -F -m s/key", "s/key"},
		{"git commit -m -m s/key", "s/key"},
		{"git commit -m x -- s/key", "s/key"},
		{"git commit -mx s/key", "s/key"},
		{"gh pr create -F s/key", "s/key"},
	} {
		if !slices.Contains(pathsOf(c.line), c.file) {
			t.Errorf("%s: %q does not name %s", c.line, pathsOf(c.line), c.file)
		}
	}
}

// Texts for people are no files: users remove a guard that denies a commit because its message
// contains ".env".
func TestTextsAreNoPaths(t *testing.T) {
	for _, line := range []string{
		"git commit -m s/key", "git commit -am s/key", "git commit -a -m x -m s/key", "git commit --amend --message=s/key", "git tag -a v1 -m s/key",
		"git stash push -m s/key", "git log --grep s/key", "git log --grep=s/key", "gh pr create --title s/key --body s/key", "gh issue comment 3 -b s/key",
	} {
		for _, path := range pathsOf(line) {
			if strings.Contains(path, "s/key") {
				t.Errorf("%s: names %s", line, path)
			}
		}
	}
}

// pathsOf returns the paths that the commands of a line may name.
func pathsOf(line string) (list []string) {
	var l shell.Line
	l.Read([]byte(line))
	for i := range l.Commands {
		effect.Paths(&l.Commands[i], func(path *shell.Word, _ effect.Use, _ bool) bool {
			list = append(list, string(path.Text))
			return true
		})
	}
	return list
}
