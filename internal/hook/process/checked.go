package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/owner"
)

// checked remembers which policies had no mistakes, so that a process that decides one
// call need not look for them anew: looking takes several times as long as deciding. A
// policy is known by everything that looking depends on, its text and this very program
// among it, and only operators' files are remembered: what stands in a project that
// nobody trusts is looked at each time.
//
// Only the user may be able to write what is believed. Whatever is wrong with the
// directory or with an entry, nothing is known, and nothing else happens.
type checked struct {
	dir     string // "" where nothing can be remembered
	build   string // this program
	options policy.Options
	unknown []string // entries of sources that were looked at this time
}

// maxChecked is how many entries there are before the old ones go, and oldChecked how old
// they are then.
const (
	maxChecked = 64
	oldChecked = 30 * 24 * time.Hour
)

// remember opens what a user has remembered for some options.
func remember(o policy.Options, a config.Account) *checked {
	dir, err := place.PathOf("checked", a)
	if err != nil {
		return &checked{}
	}
	program, err := os.Executable()
	if err != nil {
		return &checked{}
	}
	info, err := os.Stat(program)
	if err != nil {
		return &checked{}
	}
	return &checked{dir: dir, options: o, build: fmt.Sprintf("%s %s %d %d", release.Line(""), program, info.Size(), info.ModTime().UnixNano())}
}

// knows reports whether a source is known to have no mistakes; see [policy.Options].
func (c *checked) knows(s policy.Source) bool {
	if c.dir == "" || !s.Trusted {
		return false
	}
	id := c.options.Identity(s)
	if id == "" {
		return false
	}
	sum := sha256.Sum256([]byte(c.build + " " + id))
	path := filepath.Join(c.dir, hex.EncodeToString(sum[:]))
	if own(c.dir, fs.ModeDir) && own(path, 0) {
		return true
	}
	c.unknown = append(c.unknown, path)
	return false
}

// keep remembers the sources that were looked at. The policy has no mistakes.
func (c *checked) keep() {
	if len(c.unknown) == 0 || os.MkdirAll(c.dir, 0o700) != nil || !own(c.dir, fs.ModeDir) {
		return
	}
	c.sweep()
	for _, path := range c.unknown {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
		}
	}
}

// sweep removes entries that are old, where there are many.
func (c *checked) sweep() {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) < maxChecked {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > oldChecked {
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
}

// own reports whether a path is a file of that type that this user owns and nobody else
// may write to.
func own(path string, want fs.FileMode) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == want && info.Mode().Perm()&0o022 == 0 && owner.Mine(info)
}
