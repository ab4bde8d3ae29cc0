package config_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
)

// tree writes files below a new directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// found lists scope and trust of the files of a set.
func found(set config.Set) string {
	var words []string
	for _, f := range set.Files {
		word := string(f.Scope)
		if !f.Trusted {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// hashOf is how the list of trusted files names a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Proves H20, I15, K35. A file that nobody trusted takes the place of no other: neither of
// one above it, nor of the built-in policy, which would hold without it.
func TestDiscover(t *testing.T) {
	const file = "stopgate.toml"
	tests := []struct {
		name  string
		files map[string]string
		dir   string // working directory
		flag  string // --policy
		want  string
	}{
		{"nothing", nil, ".", "", "embedded"},
		{"project", map[string]string{"repo/.git/HEAD": "", "repo/" + file: "a"}, "repo", "", "project! embedded"},
		{"project above, up to the repository root", map[string]string{"repo/.git/HEAD": "", "repo/" + file: "a", "repo/x/y/z": ""}, "repo/x/y", "", "project! embedded"},
		{"the nearest project file hides none above it", map[string]string{"repo/.git/HEAD": "", "repo/" + file: "a", "repo/x/" + file: "b"}, "repo/x", "", "project! project! embedded"},
		{"the nearest trusted project file wins", map[string]string{"home/trusted": hashOf("b") + " b\n", "repo/.git/HEAD": "", "repo/" + file: "a", "repo/x/" + file: "b"}, "repo/x", "", "project"},
		{"above a trusted file nothing counts", map[string]string{"home/trusted": hashOf("b") + " b\n", "repo/.git/HEAD": "", "repo/" + file: "a", "repo/x/" + file: "b", "repo/x/y/" + file: "c"}, "repo/x/y", "", "project! project"},
		{"not above the repository root", map[string]string{"repo/.git/HEAD": "", file: "a"}, "repo", "", "embedded"},
		{"outside of a repository only here", map[string]string{file: "a", "x/y": ""}, "x", "", "embedded"},
		{"every layer", map[string]string{"etc/" + file: "s", "home/" + file: "u", "repo/.git/HEAD": "", "repo/" + file: "p"}, "repo", "", "system user project!"},
		{"a file on the command line stands alone", map[string]string{"home/" + file: "u", "repo/" + file: "p", "own.toml": "f"}, "repo", "own.toml", "flag"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files)
			if err := os.MkdirAll(filepath.Join(root, test.dir), 0o755); err != nil {
				t.Fatal(err)
			}
			where := config.Where{
				Dir: filepath.Join(root, test.dir), UserDir: filepath.Join(root, "home"), SystemDir: filepath.Join(root, "etc"),
				Starter: config.Starter(),
			}
			if test.flag != "" {
				where.Policy = []string{filepath.Join(root, test.flag)}
			}
			set, err := config.Discover(where)
			if err != nil {
				t.Fatal(err)
			}
			if got := found(set); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// Proves FM10.
func TestWhatCannotBeReadIsNoPolicyError(t *testing.T) {
	root := tree(t, map[string]string{"repo/.git/HEAD": "", "repo/stopgate.toml/x": ""})
	if _, err := config.Discover(config.Where{Dir: filepath.Join(root, "repo"), Starter: config.Starter()}); err == nil {
		t.Error("a directory in the place of the policy was passed over")
	}
	if _, err := config.Discover(config.Where{Policy: []string{filepath.Join(root, "missing.toml")}, Starter: config.Starter()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is missing: got %v", err)
	}
	if _, err := config.Discover(config.Where{Dir: root}); !errors.Is(err, config.ErrNone) {
		t.Errorf("no file and no starter: got %v", err)
	}
}

// Proves H20: an operator's file that everybody can change, or replace, is refused, whether
// it was found or named; what a project holds is believed by its bytes.
func TestFilesThatOthersCanChangeAreRefused(t *testing.T) {
	for open, refused := range map[string]string{"home/stopgate.toml": "user", "home": "user", ".": "user", "etc/stopgate.toml": "system", "named.toml": "flag", "repo/stopgate.toml": ""} {
		t.Run(open, func(t *testing.T) {
			root := tree(t, map[string]string{"home/stopgate.toml": "version = 1", "etc/stopgate.toml": "version = 1", "named.toml": "version = 1", "repo/stopgate.toml": "version = 1"})
			if err := os.Chmod(filepath.Join(root, open), 0o777); err != nil {
				t.Fatal(err)
			}
			for scope, where := range map[string]config.Where{
				"user": {UserDir: filepath.Join(root, "home")}, "system": {SystemDir: filepath.Join(root, "etc")},
				"flag": {Policy: []string{filepath.Join(root, "named.toml")}}, "project": {Dir: filepath.Join(root, "repo")},
			} {
				_, err := config.Discover(where)
				if scope == refused || open == "." && scope == "system" {
					if err == nil || !strings.Contains(err.Error(), "chmod go-w") {
						t.Errorf("%s: want an error that says what to do, got %v", scope, err)
					}
				} else if err != nil {
					t.Errorf("%s: %v", scope, err)
				}
			}
		})
	}
}

// Proves H20, K35.
func TestTrustIsForExactBytes(t *testing.T) {
	root := tree(t, map[string]string{"repo/.git/HEAD": "", "repo/stopgate.toml": "version = 1\n"})
	policy, home := filepath.Join(root, "repo", "stopgate.toml"), filepath.Join(root, "home")
	where := config.Where{Dir: filepath.Join(root, "repo"), UserDir: home}
	discover := func() string {
		t.Helper()
		set, err := config.Discover(where)
		if err != nil {
			t.Fatal(err)
		}
		return found(set)
	}
	if got := discover(); got != "project!" {
		t.Fatalf("before: %q", got)
	}
	for range 2 {
		set, err := config.Discover(where)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.Trust(home, set.Files[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got := discover(); got != "project" {
		t.Errorf("trusted: %q", got)
	}
	list, err := os.ReadFile(filepath.Join(home, "trusted"))
	if err != nil || strings.Count(string(list), "\n") != 1 {
		t.Errorf("the list has not one line: %q, %v", list, err)
	}
	if err := os.WriteFile(policy, []byte("version = 1 # changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := discover(); got != "project!" {
		t.Errorf("changed: %q", got)
	}
	if err := os.Chmod(filepath.Join(home, "trusted"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Discover(where); err == nil {
		t.Error("a list of trusted files that others can change was believed")
	}
}

// A file without a size, such as a device, is read no further than a file may be long.
func TestReadFileIsBounded(t *testing.T) {
	if text, err := config.ReadFile("/dev/zero", 1000); err == nil || len(text) > 1001 {
		t.Errorf("a device was read: %d bytes, error %v", len(text), err)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, ok := range map[int64]bool{4: false, 5: true, 6: true} {
		if text, err := config.ReadFile(path, most); (err == nil) != ok || ok && string(text) != "12345" {
			t.Errorf("at most %d: %q, %v", most, text, err)
		}
	}
}

// Proves H20: a repository inside another one hides no policy of the outer one, which may
// only tighten there, trusted or not; and the outer one alone leaves the starter in place.
func TestH20_RepositoryInsideRepository(t *testing.T) {
	home := tree(t, nil)
	dir := tree(t, map[string]string{
		".git/HEAD": "", "stopgate.toml": "version = 1 # outermost", "mid/.git/HEAD": "", "mid/a/stopgate.toml": "version = 1 # a", "mid/a/in/.git": "gitdir: x", "mid/a/in/stopgate.toml": "version = 1 # in",
	})
	in := filepath.Join(dir, "mid", "a", "in")
	for _, trusted := range []bool{false, true} {
		set, err := config.Discover(config.Where{Dir: in, UserDir: home, Starter: []byte("version = 1")})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, f := range set.Files {
			name, _ := filepath.Rel(dir, f.Path)
			if f.Scope == config.Embedded {
				name = "starter"
			}
			if tightens := set.Sources()[i].Tightens; tightens != (f.Root != "") {
				t.Errorf("%s: tightens %v", name, tightens)
			} else if tightens {
				root, _ := filepath.Rel(dir, f.Root)
				name += ">" + root
			}
			got = append(got, filepath.ToSlash(name))
		}
		want := "mid/a/in/stopgate.toml starter mid/a/stopgate.toml>mid stopgate.toml>."
		if trusted {
			want = "mid/a/in/stopgate.toml mid/a/stopgate.toml>mid stopgate.toml>."
		}
		if strings.Join(got, " ") != want || set.Root != in {
			t.Errorf("trusted %v: %v, root %s", trusted, got, set.Root)
		}
		if err := config.Trust(home, set.Files[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "stopgate.toml"), 0); err == nil && os.Getuid() != 0 {
		if _, err := config.Discover(config.Where{Dir: in, UserDir: home, Starter: []byte("version = 1")}); err == nil {
			t.Error("a policy around that cannot be read was passed over")
		}
	}
}
