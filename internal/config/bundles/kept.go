package bundles

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// kept is a directory with the last good bundle of a channel: the file "bundle" has its signature and
// its archive. The time of the file "checked" is when the channel was last seen to have no other one,
// and its text the tag of that; the time of "tried" is when it was last asked.
type kept string

// keptAt returns the directory of a channel below the state directory of a user.
func keptAt(channel string, a config.Account) (kept, error) {
	dir, err := place.PathOf("bundles", a)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(channel))
	return kept(filepath.Join(dir, fmt.Sprintf("%x", sum[:12]))), nil
}

func (k kept) file(name string) string { return filepath.Join(string(k), name) }

// read returns the bundle, verified with the keys; the error is bundle.ErrNone if there is none.
func (k kept) read(keys []bundle.PublicKey) (*bundle.Bundle, error) {
	f, err := plainfile.Open(k.file("bundle"), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bundle.ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("read the last good bundle: %w", err)
	}
	defer f.Close()
	data, err := plainfile.Read(f, bundle.MaxSignature+bundle.MaxArchive)
	if err != nil {
		return nil, fmt.Errorf("read the last good bundle: %w", err)
	}
	end := 0
	for range 4 {
		n := bytes.IndexByte(data[end:], '\n')
		if n < 0 {
			return nil, fmt.Errorf("read the last good bundle: %s has no signature", f.Name())
		}
		end += n + 1
	}
	b, err := bundle.Open(data[end:], data[:end], keys)
	if err != nil {
		return nil, fmt.Errorf("read the last good bundle: %s: %w", f.Name(), err)
	}
	return b, nil
}

// write replaces the bundle. The signature was verified and has four lines.
func (k kept) write(s bundle.Signed) error {
	lines := strings.SplitN(strings.TrimRight(string(s.Signature), "\r\n"), "\n", 5)
	if len(lines) != 4 {
		return errors.New("keep bundle: its signature has more than four lines")
	}
	text := strings.Join(lines, "\n") + "\n"
	if err := os.MkdirAll(string(k), 0o700); err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	if err := atomicfile.Replace(k.file("bundle"), append([]byte(text), s.Archive...), 0o600); err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	return nil
}

// mark writes a file whose time is now.
func (k kept) mark(name, text string, now time.Time) error {
	if err := os.MkdirAll(string(k), 0o700); err != nil {
		return err
	}
	path := k.file(name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, now, now)
}

// marked returns the time and the text of a file, zero for none.
func (k kept) marked(name string) (at time.Time, text string) {
	info, err := os.Stat(k.file(name))
	if err != nil || info.Size() > 1<<10 {
		return time.Time{}, ""
	}
	data, err := os.ReadFile(k.file(name))
	if err != nil {
		return time.Time{}, ""
	}
	return info.ModTime(), string(data)
}

// since returns when the bundle was written, zero for none.
func (k kept) since() time.Time {
	info, err := os.Stat(k.file("bundle"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
