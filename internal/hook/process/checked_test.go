package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/policy"
)

// Proves H20: only exactly the checked source is known, and only while no one else can have written
// the entry.
func TestCheckedPolicies(t *testing.T) {
	source := policy.Source{Name: "stopgate.toml", Text: []byte("version = 1\n"), Trusted: true}
	options := policy.Options{Root: "/project", Home: "/home/u", UnknownTool: stopgate.Ask}
	other := func(change func(*policy.Source, *policy.Options)) bool {
		s, o := source, options
		change(&s, &o)
		return process.Remember(o).Knows(s)
	}
	cases := []struct {
		name   string
		change func(*policy.Source, *policy.Options)
		known  bool
	}{
		{"the same", func(*policy.Source, *policy.Options) {}, true},
		{"another working directory", func(_ *policy.Source, o *policy.Options) { o.Dir = "/project/x" }, true},
		{"another text", func(s *policy.Source, _ *policy.Options) { s.Text = []byte("version = 1 \n") }, false},
		{"another name", func(s *policy.Source, _ *policy.Options) { s.Name = "other.toml" }, false},
		{"nobody trusts it", func(s *policy.Source, _ *policy.Options) { s.Trusted = false }, false},
		{"another root", func(_ *policy.Source, o *policy.Options) { o.Root = "/other" }, false},
		{"another home", func(_ *policy.Source, o *policy.Options) { o.Home = "/home/v" }, false},
		{"strictly", func(_ *policy.Source, o *policy.Options) { o.Strict = true }, false},
		{"unknown tools denied", func(_ *policy.Source, o *policy.Options) { o.UnknownTool = stopgate.Deny }, false},
		{"definitions", func(_ *policy.Source, o *policy.Options) { o.Definitions = []stopgate.ToolDefinition{{Name: "a"}} }, false},
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	first := process.Remember(options)
	if first.Knows(source) {
		t.Fatal("known before anybody looked")
	}
	untrusted := source
	untrusted.Trusted = false
	first.Knows(untrusted)
	first.Keep()
	for _, c := range cases {
		if got := other(c.change); got != c.known {
			t.Errorf("%s: known %v, want %v", c.name, got, c.known)
		}
	}

	dir := first.Dir()
	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("%q %v", entries, err)
	}
	entry := entries[0]
	chmod := func(path string, mode os.FileMode) func() error {
		return func() error { return os.Chmod(path, mode) }
	}
	for _, c := range []struct {
		name        string
		spoil, mend func() error
	}{
		{"others may write into the directory", chmod(dir, 0o777), chmod(dir, 0o700)},
		{"the group may", chmod(dir, 0o720), chmod(dir, 0o700)},
		{"others may write to the entry", chmod(entry, 0o602), chmod(entry, 0o600)},
		{"the directory is a link", func() error { return swap(dir) }, func() error { return back(dir) }},
		{"the entry is a link", func() error { return swap(entry) }, func() error { return back(entry) }},
		{"the entry is a directory", func() error { return instead(entry) }, func() error { return back(entry) }},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		if process.Remember(options).Knows(source) {
			t.Errorf("%s: believed", c.name)
		}
		process.Remember(options).Keep()
		if err := c.mend(); err != nil {
			t.Fatal(err)
		}
		if !process.Remember(options).Knows(source) {
			t.Errorf("%s: not believed once it is mended", c.name)
		}
	}
}

// swap replaces a path by a link.
func swap(path string) error {
	if err := os.Rename(path, path+"-away"); err != nil {
		return err
	}
	return os.Symlink(path+"-away", path)
}

// instead replaces it by a directory.
func instead(path string) error {
	if err := os.Rename(path, path+"-away"); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}

// back restores it.
func back(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Rename(path+"-away", path)
}
