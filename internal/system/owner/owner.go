// Package owner checks whether a user other than this one and root can change a file. The files
// that a gate trusts - its policy, the list of trusted files, its store - must not be writable by
// others (H20, S4).
//
//	if err := owner.Policy(path); err != nil {
//		return err // names the owner and the remedy
//	}
//
// It checks owners and modes. A group with the number of the file's owner, of this user, or 0
// counts as a private group, because systems number private groups that way. On systems without
// owners every file passes.
package owner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Error reports that others can change a file.
type Error struct {
	Path string
	// Why names the users who can, and the remedy.
	Why string
}

// Error returns the text of the error.
func (e *Error) Error() string { return e.Path + " " + e.Why }

// Policy refuses a file that determines decisions without being named by the user, if others can
// change it: the file and its directory, also after resolving links, must belong to this user or
// root and not be writable by others, and no directory above may be writable by everyone, except
// with the sticky bit, such as /tmp. Files on a file system mounted read-only pass.
func Policy(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err = change(path, info); err == nil {
		err = checkParents(path)
	}
	if err != nil && readOnly(path) {
		return nil
	}
	return err
}

// Named refuses a file that the user named if everyone can change it. Its owner is not checked.
func Named(path string, info fs.FileInfo) error {
	if writableByAll(info) && info.Mode().IsRegular() && !readOnly(path) {
		return &Error{path, fmt.Sprintf("can be changed by every user (mode %04o); run: chmod go-w %s", info.Mode().Perm(), path)}
	}
	return nil
}

// State refuses a directory for the files of a gate in which other users can create files: programs
// that open such files also read files next to them. The directory may belong to any user if this
// process is root.
func State(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case ownedByOther(info) && !root():
		return change(dir, info)
	case writableByOthers(info) && info.Mode()&fs.ModeSticky != 0:
		return &Error{dir, fmt.Sprintf("is a directory for everybody (mode 1%03o); use one below it that is made for this alone", info.Mode().Perm())}
	case writableByOthers(info):
		return &Error{dir, open(dir, info)}
	}
	return nil
}

// checkParents checks the directories above a file, and those above the targets of links in its
// path.
func checkParents(path string) error {
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

// walk checks the directories in a path, and reports whether one of them, or the file, is a link.
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
		case info.Mode()&fs.ModeSticky != 0 && !(first && ownedByOther(info)):
		case first, writableByAll(info):
			// Further up only directories writable by everyone matter: a file that another user
			// creates in a directory has that user as its owner, which the other checks detect.
			if err := change(dir, info); err != nil {
				return false, err
			}
		}
		path = dir
	}
}

// change returns an error if others can change a file.
func change(path string, info fs.FileInfo) error {
	switch {
	case ownedByOther(info):
		return &Error{path, fmt.Sprintf("belongs to another user (%s); make it yours or root's with chown, or run as that user", describe(info))}
	case writableByOthers(info):
		return &Error{path, open(path, info)}
	}
	return nil
}

func open(path string, info fs.FileInfo) string {
	return fmt.Sprintf("can be changed by other users (mode %04o); run: chmod go-w %s", info.Mode().Perm(), path)
}
