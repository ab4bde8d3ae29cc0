package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/owner"
)

// checked caches which policies had no mistakes, so that a process for one call need not check them
// again: checking takes several times as long as deciding. The key of a policy is everything that a
// check depends on, including its text and the executable that checks. Only operators' files are cached; those
// of an untrusted project are checked each time.
//
// Only the user may have write access to the cache. If anything is wrong with the directory or an
// entry, the policy is unknown, and checked as usual.
type checked struct {
	dir     string // "" without a cache
	build   string // identifies the executable that checks
	options policy.Options
	unknown []string // entries of sources that were checked this time
}

// maxChecked is the number of entries above which old ones are removed, and oldChecked the age of
// old ones.
const (
	maxChecked = 64
	oldChecked = 30 * 24 * time.Hour
)

// remember opens the cache of a user for some options: the checks of this program, or of the full one
// if this one cannot check completely.
func remember(o policy.Options, p Program) *checked {
	dir, err := place.PathOf("checked", p.Caller.Account)
	if err != nil {
		return &checked{}
	}
	executable := os.Executable
	if p.Compile == nil && p.Full != nil {
		executable = p.Full
	}
	program, err := executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
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

// keep adds the sources that were checked. The policy has no mistakes.
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

// sweep removes old entries if there are many.
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

// own reports whether a path is a file of a type that belongs to this user, without write access
// for others.
func own(path string, want fs.FileMode) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == want && info.Mode().Perm()&0o022 == 0 && owner.OwnedByUser(info)
}
