// Package owner says whether anybody but this user and root can change a file. What a gate
// believes without being asked - its policy, what is trusted, its store - is as good as
// that answer (H20, S4).
//
//	if err := owner.Policy(path); err != nil {
//		return err // says whose it is and what to do
//	}
//
// It looks at owners and modes, which is what other users of the machine are held by. A
// group that has the number of the file's owner or of this user, or 0, is taken for his own:
// that is how systems number the group that nobody else is in. Systems without owners have no other
// users to ask about.
package owner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Error says that others can change a file.
type Error struct {
	Path string
	// Why says who can, and what to do.
	Why string
}

// Error is the whole of it.
func (e *Error) Error() string { return e.Path + " " + e.Why }

// Policy refuses a file that decides what runs without anybody having named it: it has to
// belong to this user or to root, and so does its directory, also behind links; nobody else
// may write there, nor may everybody write to a directory further up. One in which each
// removes only what is his own, such as /tmp, will do. What lies on a file system that is
// mounted read-only can be changed by nobody here, whosever it is.
func Policy(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err = change(path, info); err == nil {
		err = above(path)
	}
	if err != nil && readOnly(path) {
		return nil
	}
	return err
}

// Named refuses a file that somebody named, if everybody can change it. Whose it is he
// knows.
func Named(path string, info fs.FileInfo) error {
	if everybody(info) && info.Mode().IsRegular() && !readOnly(path) {
		return &Error{path, fmt.Sprintf("can be changed by every user (mode %04o); run: chmod go-w %s", info.Mode().Perm(), path)}
	}
	return nil
}

// State refuses a directory in which a gate keeps files that it believes: programs that
// open them look for more files beside them, so nobody else may put any there. Root may
// look after the directory of any user.
func State(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case foreign(info) && !root():
		return change(dir, info)
	case others(info) && info.Mode()&fs.ModeSticky != 0:
		return &Error{dir, fmt.Sprintf("is a directory for everybody (mode 1%03o); use one below it that is made for this alone", info.Mode().Perm())}
	case others(info):
		return &Error{dir, open(dir, info)}
	}
	return nil
}

// above looks at the directories above a file, and above what links on the way lead to.
func above(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	linked, err := walk(path)
	if err != nil || !linked {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err == nil {
		_, err = walk(path)
	}
	return err
}

// walk looks at the directories that a name says, and reports whether one of them, or what
// has the name, is a link.
func walk(path string) (linked bool, err error) {
	at, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	linked = at.Mode().Type() == fs.ModeSymlink
	for first := true; ; first = false {
		dir := filepath.Dir(path)
		if dir == path {
			return linked, nil
		}
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
			return false, err
		case info.Mode().Type() == fs.ModeSymlink:
			linked = true
		case info.Mode()&fs.ModeSticky != 0 && !(first && foreign(info)):
		case first, everybody(info):
			// Further up only what everybody may do counts: what another user puts there in
			// our place is his, and is seen to be.
			if err := change(dir, info); err != nil {
				return false, err
			}
		}
		path = dir
	}
}

// change is why others can change a file.
func change(path string, info fs.FileInfo) error {
	switch {
	case foreign(info):
		return &Error{path, fmt.Sprintf("belongs to another user (%s); make it yours or root's with chown, or run as that user", whose(info))}
	case others(info):
		return &Error{path, open(path, info)}
	}
	return nil
}

func open(path string, info fs.FileInfo) string {
	return fmt.Sprintf("can be changed by other users (mode %04o); run: chmod go-w %s", info.Mode().Perm(), path)
}
