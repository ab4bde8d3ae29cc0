package owner_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/system/owner"
)

// world is /, with a home directory of a user and a file in it, all with good owners and modes.
type world struct {
	t              *testing.T
	root, dir, doc string
}

// Users of these tests, and a group with several members.
const (
	me, mallory = 61001, 61002
	staff       = 61050
)

// newWorld creates a world as seen by the user me. It needs root to create files of two users.
func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of two users")
	}
	root, err := os.MkdirTemp("", "owner")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	w := &world{t, root, filepath.Join(root, "home", "conf"), filepath.Join(root, "home", "conf", "f")}
	w.must(os.MkdirAll(w.dir, 0o755), os.WriteFile(w.doc, []byte("x"), 0o644))
	for _, path := range []string{root, filepath.Dir(w.dir), w.dir} {
		w.must(os.Chmod(path, 0o755))
	}
	for _, path := range []string{filepath.Dir(w.dir), w.dir, w.doc} {
		w.must(os.Chown(path, me, me))
	}
	return w
}

func (w *world) must(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

// as calls f as a user.
func (w *world) as(user int, f func() error) (err error) {
	w.t.Helper()
	w.must(syscall.Setresuid(-1, user, -1))
	defer func() { w.must(syscall.Setresuid(-1, 0, -1)) }()
	return f()
}

// Proves H20, K35: a policy that another user can change or replace is refused, wherever in its
// path that is possible; otherwise it is accepted.
func TestPolicy(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(w *world)
		want string // "" if it is believed
	}{
		{"mine", func(*world) {}, ""},
		{"of root", func(w *world) { w.must(os.Chown(w.doc, 0, 0), os.Chown(w.dir, 0, 0)) }, ""},
		{"of another user", func(w *world) { w.must(os.Chown(w.doc, mallory, mallory)) }, "belongs to another user"},
		{"for everybody", func(w *world) { w.must(os.Chmod(w.doc, 0o646)) }, "chmod go-w"},
		{"for a group of several", func(w *world) { w.must(os.Chown(w.doc, me, staff), os.Chmod(w.doc, 0o664)) }, "chmod go-w"},
		{"for the user's own group", func(w *world) { w.must(os.Chmod(w.doc, 0o664), os.Chmod(w.dir, 0o775)) }, ""},
		{"for the group of root", func(w *world) { w.must(os.Chown(w.doc, me, 0), os.Chmod(w.doc, 0o664)) }, ""},
		{"a directory of another user", func(w *world) { w.must(os.Chown(w.dir, mallory, mallory)) }, "belongs to another user"},
		{"a directory for everybody", func(w *world) { w.must(os.Chmod(w.dir, 0o777)) }, "chmod go-w"},
		{"a directory for a group", func(w *world) { w.must(os.Chown(w.dir, me, staff), os.Chmod(w.dir, 0o775)) }, "chmod go-w"},
		{"a directory like /tmp", func(w *world) { w.must(os.Chown(w.dir, 0, 0), os.Chmod(w.dir, 0o777|fs.ModeSticky)) }, ""},
		{"one like /tmp, of another user", func(w *world) { w.must(os.Chown(w.dir, mallory, 0), os.Chmod(w.dir, 0o777|fs.ModeSticky)) }, "belongs to another user"},
		{"further up for everybody", func(w *world) { w.must(os.Chmod(filepath.Dir(w.dir), 0o777)) }, "chmod go-w"},
		{"a link to what is mine", func(w *world) { w.link(me) }, ""},
		{"a link to what is another's", func(w *world) { w.link(mallory) }, "belongs to another user"},
		{"a link into a directory for everybody", func(w *world) {
			w.link(me)
			w.must(os.Chmod(filepath.Join(w.root, "else"), 0o777))
		}, "chmod go-w"},
		{"a directory that is a link to one for everybody", func(w *world) {
			w.must(os.Rename(w.dir, filepath.Join(w.root, "else")), os.Symlink(filepath.Join(w.root, "else"), w.dir),
				os.Chmod(filepath.Join(w.root, "else"), 0o777))
		}, "chmod go-w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			w.says(w.as(me, func() error { return owner.Policy(w.doc) }), c.want)
		})
	}
}

// link replaces the file by a link to a file of a user elsewhere.
func (w *world) link(user int) {
	to := filepath.Join(w.root, "else", "g")
	w.must(os.Mkdir(filepath.Dir(to), 0o755), os.Rename(w.doc, to), os.Symlink(to, w.doc), os.Chown(to, user, user), os.Chown(filepath.Dir(to), user, user))
}

func (w *world) says(err error, want string) {
	w.t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		w.t.Errorf("%v; want %q", err, want)
	}
}

// Proves S4: only the user and root can create files next to those of a gate; root may use the
// directory of any user.
func TestState(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(w *world)
		user int
		want string
	}{
		{"mine", func(*world) {}, me, ""},
		{"of root", func(w *world) { w.must(os.Chown(w.dir, 0, 0)) }, me, ""},
		{"of another user", func(*world) {}, mallory, "belongs to another user"},
		{"of another user, to root", func(*world) {}, 0, ""},
		{"for everybody", func(w *world) { w.must(os.Chmod(w.dir, 0o777)) }, me, "chmod go-w"},
		{"for everybody, to root", func(w *world) { w.must(os.Chmod(w.dir, 0o777)) }, 0, "chmod go-w"},
		{"like /tmp", func(w *world) { w.must(os.Chown(w.dir, 0, 0), os.Chmod(w.dir, 0o777|fs.ModeSticky)) }, me, "use one below it"},
		{"for the group of a volume", func(w *world) { w.must(os.Chown(w.dir, 0, me), os.Chmod(w.dir, 0o775|fs.ModeSetgid)) }, me, ""},
		{"for a group", func(w *world) { w.must(os.Chown(w.dir, me, staff), os.Chmod(w.dir, 0o775)) }, me, "chmod go-w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			w.says(w.as(c.user, func() error { return owner.State(w.dir) }), c.want)
		})
	}
}

// A named file is accepted, unless everyone can change it.
func TestNamed(t *testing.T) {
	w := newWorld(t)
	named := func() error {
		info, err := os.Stat(w.doc)
		w.must(err)
		return owner.Named(w.doc, info)
	}
	w.must(os.Chown(w.doc, mallory, staff), os.Chmod(w.doc, 0o664))
	w.says(w.as(me, named), "")
	w.must(os.Chmod(w.doc, 0o666))
	w.says(w.as(me, named), "chmod go-w")
}
