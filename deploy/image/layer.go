package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// owner is the user of the image, which has no name elsewhere.
const owner = 65532

// entry is a file or directory of the layer.
type entry struct {
	name string // ends with / for a directory
	mode int64
	own  bool // the user may write to it
	text []byte
}

// entries lists everything in the image: the programs of a directory, certificates, licences, the user,
// its directory.
func entries(dir string, licences map[string][]byte) ([]entry, error) {
	list := []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, text: fmt.Appendf(nil, "stopgate:x:%d:\n", owner)},
		{name: "etc/passwd", mode: 0o644, text: fmt.Appendf(nil, "stopgate:x:%d:%d::/var/lib/stopgate:/sbin/nologin\n", owner, owner)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: roots()},
	}
	for _, name := range []string{"stopgate", "stopgate-hook"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		list = append(list, entry{name: name, mode: 0o755, text: text})
	}
	const shelf = "usr/share/licenses/stopgate/"
	list = append(list, entry{name: "usr/", mode: 0o755}, entry{name: "usr/share/", mode: 0o755}, entry{name: "usr/share/licenses/", mode: 0o755}, entry{name: shelf, mode: 0o755})
	for _, name := range slices.Sorted(maps.Keys(licences)) {
		list = append(list, entry{name: shelf + name, mode: 0o644, text: licences[name]})
	}
	list = append(list, entry{name: "var/", mode: 0o755}, entry{name: "var/lib/", mode: 0o755}, entry{name: "var/lib/stopgate/", mode: 0o700, own: true})
	return list, nil
}

// WriteRoot writes the files of the image to a directory, for builders that copy them: only the user's
// directory has another owner, which they set.
func WriteRoot(out, programs string, licences map[string][]byte) error {
	list, err := entries(programs, licences)
	if err != nil {
		return err
	}
	for _, e := range list {
		path := filepath.Join(out, e.name)
		if strings.HasSuffix(e.name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, e.text, 0o600)
		}
		if err == nil {
			err = os.Chmod(path, fs.FileMode(e.mode)) // whatever the mask of modes is
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// layerOf makes the only layer of the image.
func layerOf(dir string, created time.Time, licences map[string][]byte) (v1.Layer, error) {
	list, err := entries(dir, licences)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range list {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), ModTime: created, Format: tar.FormatPAX, Typeflag: tar.TypeReg}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if e.own {
			h.Uid, h.Gid = owner, owner
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// roots returns the root certificates that Mozilla's programs trust, as PEM, without those that
// they trust under a constraint: a file of certificates cannot express it.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory: cannot fail
	}
	return out.Bytes()
}
