// Package atomicfile writes whole files: after an error or a crash a file has its old text or its
// new one, never a part.
//
//	err := atomicfile.Rewrite("stopgate.toml", text)         // one that exists, in its mode
//	err := atomicfile.Replace("pins.json", text, 0o600)      // one that may not exist
//	err := atomicfile.Create("stopgate.toml.bak", old, 0o600) // one that must not exist
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create writes a file that does not exist yet; else the error is [fs.ErrExist].
func Create(path string, text []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Replace gives a file a text and a mode. A symbolic link at path is replaced, not followed.
func Replace(path string, text []byte, mode fs.FileMode) error {
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = next.Write(text)
	if err = errors.Join(err, next.Chmod(mode), next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// Rewrite gives a file that exists a new text. Its mode stays, and so does a symbolic link to it.
// A file that the process may not write is an error.
func Rewrite(path string, text []byte) error {
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	// Replace needs only a writable directory.
	old, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	info, err := old.Stat()
	if err = errors.Join(err, old.Close()); err == nil {
		err = Replace(file, text, info.Mode().Perm())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
