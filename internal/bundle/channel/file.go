package channel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

// file is a channel of files: the newest bundle at this path, its signature next to it.
type file string

// String returns the URL.
func (f file) String() string { return "file:" + string(f) }

// Fetch reads the signature and, if it is another one, the bundle.
func (f file) Fetch(_ context.Context, tag string) (bundle.Signed, error) {
	return f.read(string(f), tag)
}

// Generation reads an earlier bundle.
func (f file) Generation(_ context.Context, n uint64) (bundle.Signed, error) {
	return f.read(earlier(string(f), n), "")
}

func (f file) read(path, tag string) (s bundle.Signed, err error) {
	if s.Signature, err = readFile(path+signatureEnd, bundle.MaxSignature); err != nil {
		return bundle.Signed{}, err
	}
	if s.Tag = tagOf(s.Signature); s.Tag == tag {
		return bundle.Signed{}, bundle.ErrUnchanged
	}
	if s.Archive, err = readFile(path, bundle.MaxArchive); err != nil {
		return bundle.Signed{}, err
	}
	return s, nil
}

// readFile reads a regular file of limited size.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s does not exist", bundle.ErrNone, path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := readAll(r, most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Push writes the bundle under its generation, then as the newest one, the signature last.
func (f file) Push(_ context.Context, generation uint64, s bundle.Signed) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o755); err != nil {
		return err
	}
	for _, path := range []string{earlier(string(f), generation), string(f)} {
		if err := atomicfile.Replace(path, s.Archive, 0o644); err != nil {
			return err
		}
		if err := atomicfile.Replace(path+signatureEnd, s.Signature, 0o644); err != nil {
			return err
		}
	}
	return nil
}
