package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
)

// Proves FM10, FM12: a link that leads nowhere is a policy that cannot be read, never "no
// policy", wherever on the way to the file it stands: the disk behind it is not mounted.
func TestDanglingLinksAreNotNothing(t *testing.T) {
	for _, link := range []string{
		"etc/stopgate/stopgate.toml", "etc/stopgate", "home/.config/stopgate/stopgate.toml", "home/.config/stopgate", "home/.config",
		"outer/inner/stopgate.toml", "outer/stopgate.toml",
	} {
		t.Run(link, func(t *testing.T) {
			root := tree(t, map[string]string{"etc/x": "", "home/x": "", "outer/.git/HEAD": "", "outer/inner/.git/HEAD": ""})
			where := config.Where{
				Dir: filepath.Join(root, "outer", "inner"), UserDir: filepath.Join(root, "home", ".config", "stopgate"),
				SystemDir: filepath.Join(root, "etc", "stopgate"), Starter: config.Starter(),
			}
			if _, err := config.Discover(where); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, filepath.FromSlash(link))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(root, "unmounted"), path); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Discover(where); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path+" leads nowhere") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Proves FM12: a disk that does not say where the project begins is an error: otherwise the
// project's policy would count for nothing.
func TestProjectsThatCannotBeFound(t *testing.T) {
	lost := "/" + strings.Repeat("x", 5000) // longer than any file system takes
	if set, err := config.Discover(config.Where{Dir: lost, Starter: config.Starter()}); err == nil {
		t.Errorf("found %q", found(set))
	}
	if root, err := config.ProjectRoot(lost); err == nil {
		t.Errorf("the root is %q", root)
	}
	if root, err := config.ProjectRoot(filepath.Join(t.TempDir(), "gone", "below")); root != "" || err != nil {
		t.Errorf("a directory that is gone: %q, %v", root, err)
	}
}

// Proves H20: what a full disk cut off when it was written takes nothing from the next
// policy that is trusted.
func TestTrustBehindACutLine(t *testing.T) {
	const text = "version = 1\n"
	for _, cut := range []string{hashOf("other")[:30], hashOf("other"), hashOf("other") + " /srv/a"} {
		root := tree(t, map[string]string{"repo/stopgate.toml": text, "home/trusted": hashOf("first") + " /srv/first\n" + cut})
		where := config.Where{Dir: filepath.Join(root, "repo"), UserDir: filepath.Join(root, "home")}
		set, err := config.Discover(where)
		if err != nil || found(set) != "project!" {
			t.Fatalf("%s, %v", found(set), err)
		}
		if err := config.Trust(where.UserDir, set.Files[0]); err != nil {
			t.Fatal(err)
		}
		if set, err := config.Discover(where); err != nil || found(set) != "project" {
			t.Errorf("behind %q: %s, %v", cut, found(set), err)
		}
		if first, err := config.Trusted(where.UserDir, hashOf("first")); !first || err != nil {
			t.Errorf("behind %q the first is lost: %v", cut, err)
		}
	}
}
