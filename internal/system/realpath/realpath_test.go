package realpath_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/system/realpath"
)

// tree creates directories, files and links ("name -> target") below a new directory.
func tree(t *testing.T, links map[string]string, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Proves C5: the file that a path names after its links are resolved.
func TestReal(t *testing.T) {
	dir := tree(t, map[string]string{
		"proj/src/secret": "../.env", "proj/up": "..", "proj/out": "/etc", "proj/loop": "loop", "proj/a": "b", "proj/b": "src",
		"proj/dangling": "nowhere/x", "home": "proj",
	}, "proj/src/x", "proj/.env", "proj/file", "other/y")
	walks := map[string]func(string) (string, bool){
		"proj": realpath.Walk(filepath.Join(dir, "proj"))(), "home": realpath.Walk(filepath.Join(dir, "home"))(),
	}
	for _, c := range []struct{ root, name, want string }{
		{"proj", "proj/src/x", "proj/src/x"},
		{"proj", "proj/src/./x", "proj/src/x"},
		{"proj", "proj/src/new/deep", "proj/src/new/deep"},
		{"proj", "proj/src/secret", "proj/.env"},
		{"proj", "proj/a/x", "proj/src/x"},
		{"proj", "proj/a/new", "proj/src/new"},
		{"proj", "proj/up/other/y", "other/y"},
		{"proj", "proj/a/../.env", "proj/.env"}, // below src, the target of a
		{"proj", "proj/up/../x", ""},            // see below
		{"proj", "proj/dangling", "proj/nowhere/x"},
		{"proj", "proj/new/../../x", ""}, // below a missing file
		{"proj", "proj/loop", ""},
		{"proj", "proj/file/x", ""},
		// The root itself may be given by a link: files below it keep the names of the rules.
		{"home", "home/src/x", "home/src/x"},
		{"home", "home/src/secret", "home/.env"},
		{"home", "proj/src/x", "proj/src/x"},
	} {
		real, ok := realpath.From(filepath.Join(dir, c.root))(dir + "/" + c.name)
		want := filepath.Join(dir, c.want)
		switch c.name {
		case "proj/up/../x":
			want = filepath.Join(filepath.Dir(dir), "x")
		default:
			if c.want == "" {
				want = ""
			}
		}
		if real != want || ok != (want != "") {
			t.Errorf("%s from %s: %q, %v, want %q", c.name, c.root, real, ok, want)
		}
		if again, same := walks[c.root](dir + "/" + c.name); again != real || same != ok {
			t.Errorf("%s from %s: %q, %v by a walk that remembers", c.name, c.root, again, same)
		}
	}
	from := realpath.From(filepath.Join(dir, "proj"))
	if real, ok := from(dir + "/proj/out/passwd"); !ok || real != "/etc/passwd" {
		t.Errorf("out of the project: %q, %v", real, ok)
	}
	for _, name := range []string{"", "relative", dir + "/proj/\x00"} {
		if real, ok := from(name); ok {
			t.Errorf("%q: %q", name, real)
		}
	}
}

// Proves C5: each walk has its own cache: the next one sees the current links.
func TestWalkCache(t *testing.T) {
	dir := tree(t, map[string]string{"a": "one"}, "one/x", "two/x")
	walk := realpath.Walk(dir)
	first := walk()
	if real, ok := first(dir + "/a/x"); !ok || real != dir+"/one/x" {
		t.Fatal(real, ok)
	}
	if err := os.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("two", dir+"/a"); err != nil {
		t.Fatal(err)
	}
	if real, ok := walk()(dir + "/a/x"); !ok || real != dir+"/two/x" {
		t.Error(real, ok)
	}
}
