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

// keepProjects is the time for which the project of an inactive session is remembered.
const keepProjects = 30 * 24 * time.Hour

// hooksDir is the directory next to a store for the other state of hooks.
const hooksDir = "hooks"

// projects remembers in which project a session began, for hosts that only send the current
// directory: a model may change that, and would leave the project's policy. Each session has a file
// next to the store, which is written once and trusted like the store.
type projects struct {
	dir string
	now func() time.Time
}

// projectsAt returns the projects next to a store, or false if the store is in memory.
func projectsAt(url string, a config.Account) (p projects, ok bool, err error) {
	store, err := place.StorePathOf(url, a)
	if err != nil || store == place.Memory {
		return p, false, err
	}
	local, err := place.LocalOf(store, a)
	return projects{dir: filepath.Join(filepath.Dir(local), hooksDir), now: time.Now}, err == nil, err
}

// of returns the project of an event: the one in which its session began, if that was one. A
// failure to read or write is an error; no other project is used then.
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
	// A directory outside of any project has no policy to lose.
	if root, err := config.ProjectRoot(now); err != nil || root == "" {
		return now, err
	}
	dir, err := p.write(path, now)
	if err != nil {
		return "", unusable{fmt.Errorf("record where the session began: %w", err)}
	}
	return dir, nil
}

// read reads a file, and keeps it from being swept.
func (p projects) read(path string) (string, error) {
	seen, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	text, info, err := readRegular(path, seen, 1<<16)
	if err != nil {
		return "", err
	}
	dir, complete := strings.CutSuffix(string(text), "\n")
	if !complete || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s names no directory; without that file the session begins where it works now", path)
	}
	if p.now().Sub(info.ModTime()) > keepProjects/30 {
		_ = os.Chtimes(path, p.now(), p.now()) // otherwise it is forgotten in a month
	}
	return dir, nil
}

// readRegular reads a file of limited size. It does not follow links or block: the opened file must
// be the one that was seen.
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
		return nil, nil, fmt.Errorf("%s was replaced while it was opened", path)
	}
	text, err := plainfile.Read(f, most)
	return text, info, err
}

// write creates a complete file, unless another process was first: then it returns that file's
// content.
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
		return dir, os.Rename(f.Name(), path) // a file system without hard links
	}
	return dir, nil
}

// sweep removes files that were not used for a month. Files that cannot be removed stay.
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

// name returns the file name of a session.
func (p projects) name(e *hook.Event) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", e.Call.Principal, e.Call.Session))
	return fmt.Sprintf("%x.project", sum[:16])
}

// project returns the directory whose policy applies to an event: the one set by the host, else
// where the session began, else its current directory, else that of this process. now is the
// current directory, if it was determined: a policy there may still tighten, since otherwise a
// session that a model started elsewhere would be unrestricted in every project.
func (w *wiring) project(ctx context.Context, e *hook.Event) (dir, now string, err error) {
	now, fromHost, err := w.program.Caller.projectDir(e.Dir)
	if err != nil || fromHost || ctx.Err() != nil {
		return now, now, err
	}
	p, ok, err := projectsAt(w.flags.Place.Store, w.program.Caller.Account)
	if err != nil || !ok {
		return now, now, err
	}
	dir, err = p.of(e, now)
	return dir, now, err
}

// policies returns the files that apply to an event, and the directory of its project.
func (w *wiring) policies(ctx context.Context, e *hook.Event) (set config.Set, dir string, err error) {
	dir, now, err := w.project(ctx, e)
	if err != nil {
		return set, dir, err
	}
	where := w.program.Caller.Standard(dir)
	where.Policy = w.flags.Policies
	if w.program.delegated != nil {
		where.Held = w.program.delegated.kept.held
	}
	if set, err = config.Discover(where); err != nil || now == dir {
		return set, dir, err
	}
	where.Dir = now
	there, err := config.Discover(where)
	return set.With(there), dir, err
}
