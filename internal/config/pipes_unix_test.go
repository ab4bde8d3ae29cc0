//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
)

// Proves FM10, H20: a pipe in a repository keeps nobody waiting; one that somebody names
// is read.
func TestPipesAreNoPolicies(t *testing.T) {
	root := tree(t, map[string]string{"repo/.git/HEAD": ""})
	pipe := filepath.Join(root, "repo", "stopgate.toml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Discover(config.Where{Dir: filepath.Join(root, "repo"), Starter: config.Starter()}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
	go func() {
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err == nil {
			w.WriteString("version = 1\n")
			w.Close()
		}
	}()
	if set, err := config.Discover(config.Where{Policy: []string{pipe}}); err != nil || string(set.Files[0].Text) != "version = 1\n" {
		t.Errorf("%v, %v", set, err)
	}
}

// Proves FM10, H20: a list of trusted policies that is a pipe keeps nobody waiting.
func TestPipesAreNoLists(t *testing.T) {
	root := tree(t, map[string]string{"repo/stopgate.toml": "version = 1\n", "home/x": ""})
	if err := syscall.Mkfifo(filepath.Join(root, "home", "trusted"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Discover(config.Where{Dir: filepath.Join(root, "repo"), UserDir: filepath.Join(root, "home")}); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}
