package process

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// keepProjects is how long it is remembered where a session began that nobody hears of.
const keepProjects = 30 * 24 * time.Hour

// besideStore is the directory beside a store in which hooks keep what is not in it.
const besideStore = "hooks"

// projects remembers in which project a session began, for hosts that say only where it
// works now: a model may change that, and would lose the project's policy with it. Each
// session has a file beside the store, which is written once and trusted as the store is.
type projects struct {
	dir  string
	now  func() time.Time
	kept *Kept // nil: nothing is
}

// projectsAt returns the projects beside a store, or false where the store is memory: then
// nothing outlives the process.
func projectsAt(url string, a config.Account) (p projects, ok bool, err error) {
	store, err := place.StorePathOf(url, a)
	if err != nil || store == place.Memory {
		return p, false, err
	}
	return projects{dir: filepath.Join(filepath.Dir(store), besideStore), now: time.Now}, true, nil
}

// of is the project of an event: the one in which its session began, if that was one.
// What cannot be read or written is an error, and no other project is taken then.
func (p projects) of(e *hook.Event, now string) (string, error) {
	if e.Call.Session == "" {
		return now, nil
	}
	path := filepath.Join(p.dir, p.name(e))
	switch dir, err := p.read(path); {
	case err == nil:
		return dir, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", unusable{fmt.Errorf("find where the session began: %w", err)}
	}
	// A directory that belongs to no project has no policy to lose.
	if root, err := config.ProjectRoot(now); err != nil || root == "" {
		return now, err
	}
	dir, err := p.write(path, now)
	if err != nil {
		return "", unusable{fmt.Errorf("remember where the session began: %w", err)}
	}
	return dir, nil
}

// read reads a file, and keeps it from being swept.
func (p projects) read(path string) (string, error) {
	seen, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	dir, known := p.kept.began(path, seen)
	info := seen
	if !known {
		var text []byte
		if text, info, err = readRegular(path, seen, 1<<16); err != nil {
			return "", err
		}
		var whole bool
		if dir, whole = strings.CutSuffix(string(text), "\n"); !whole || !filepath.IsAbs(dir) {
			return "", fmt.Errorf("%s names no directory; without that file the session begins where it works now", path)
		}
		p.kept.keepBeginning(path, info, dir)
	}
	if p.now().Sub(info.ModTime()) > keepProjects/30 {
		_ = os.Chtimes(path, p.now(), p.now()) // the worst is that it is forgotten in a month
	}
	return dir, nil
}

// readRegular reads a file of at most so many bytes, and nothing that leads to another
// one or keeps its reader waiting: what is opened is what was seen.
func readRegular(path string, seen fs.FileInfo, most int64) ([]byte, fs.FileInfo, error) {
	if !seen.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := plainfile.Open(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(seen, info) {
		return nil, nil, fmt.Errorf("%s is another file than a moment ago", path)
	}
	text, err := plainfile.Read(f, most)
	return text, info, err
}

// write writes a file whole, unless another process was first: then it says what stands
// there.
func (p projects) write(path, dir string) (string, error) {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return "", err
	}
	p.sweep()
	f, err := os.CreateTemp(p.dir, "project-*.tmp")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(dir + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := os.Link(f.Name(), path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return p.read(path)
		}
		return dir, os.Rename(f.Name(), path) // a file system without links
	}
	return dir, nil
}

// sweep removes what nobody has asked for in a month. What cannot be removed stays.
func (p projects) sweep() {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".project" && ext != ".tmp" {
			continue
		}
		if info, err := e.Info(); err == nil && p.now().Sub(info.ModTime()) > keepProjects {
			_ = os.Remove(filepath.Join(p.dir, e.Name()))
		}
	}
}

// name is the file of a session.
func (p projects) name(e *hook.Event) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", e.Call.Principal, e.Call.Session))
	return fmt.Sprintf("%x.project", sum[:16])
}

// project is the directory whose policy holds for an event: what the host says about the
// project, else where the session began, else where it works, else our own. now is where it
// works, if that was asked: a policy there may still tighten, lest a session that a model
// let begin elsewhere is free in every project.
func (w *wiring) project(ctx context.Context, e *hook.Event) (dir, now string, err error) {
	now, said, err := w.program.Caller.projectDir(e.Dir)
	if err != nil || said || ctx.Err() != nil {
		return now, now, err
	}
	p, ok, err := projectsAt(w.flags.Place.Store, w.program.Caller.Account)
	if err != nil || !ok {
		return now, now, err
	}
	p.kept = w.kept()
	dir, err = p.of(e, now)
	return dir, now, err
}

// policies are the files that hold for an event, and the directory of its project.
func (w *wiring) policies(ctx context.Context, e *hook.Event) (set config.Set, dir string, err error) {
	dir, now, err := w.project(ctx, e)
	if err != nil {
		return set, dir, err
	}
	where := w.program.Caller.Standard(dir)
	where.Policy = w.flags.Policies
	if w.program.guest != nil {
		where.Held = w.program.guest.kept.held
	}
	if set, err = config.Discover(where); err != nil || now == dir {
		return set, dir, err
	}
	where.Dir = now
	there, err := config.Discover(where)
	return set.Beside(there), dir, err
}
