package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// pack writes the archive of a content.
func pack(manifest []byte, c *Content) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	list := append([]File{{manifestName, manifest}}, c.Files...)
	if c.Previous != nil {
		list = append(list, File{previousName, c.Previous.Archive})
	}
	for _, f := range list {
		h := tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: int64(len(f.Data)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		err := w.WriteHeader(&h)
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// unpack reads the files of an archive. Memory and time are bounded by its length; everything else
// is left to the comparison with the canonical form.
func unpack(archive []byte) (manifest []byte, files []File, previous []byte, err error) {
	r := tar.NewReader(bytes.NewReader(archive))
	for n := 0; ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			return nil, nil, nil, fmt.Errorf("the archive is cut or damaged: %w", err)
		case h.Typeflag != tar.TypeReg || h.Format != tar.FormatUSTAR:
			return nil, nil, nil, fmt.Errorf("entry %q is no plain file", h.Name)
		case n > maxFiles+1:
			return nil, nil, nil, fmt.Errorf("more than %d files", maxFiles)
		case h.Size > int64(len(archive)):
			return nil, nil, nil, fmt.Errorf("entry %q is longer than the archive", h.Name)
		case n == 0 && (h.Name != manifestName || h.Size > maxManifest):
			return nil, nil, nil, fmt.Errorf("it does not begin with a manifest (%s) of at most %d bytes", manifestName, maxManifest)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("the archive is cut or damaged: %w", err)
		}
		switch {
		case n == 0:
			manifest = data
		case h.Name == previousName:
			previous = data
		default:
			files = append(files, File{h.Name, data})
		}
	}
	if manifest == nil {
		return nil, nil, nil, errors.New("it is empty")
	}
	return manifest, files, previous, nil
}
