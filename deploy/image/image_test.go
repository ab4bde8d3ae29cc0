package image

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// programs writes stand-ins for the programs of two architectures.
func programs(t *testing.T) (dir string) {
	dir = t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		if err := os.MkdirAll(filepath.Join(dir, "linux-"+arch), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"stopgate", "stopgate-hook"} {
			if err := os.WriteFile(filepath.Join(dir, "linux-"+arch, name), []byte(name+" for "+arch), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// indexOf reads a layout and returns the index of the image in it.
func indexOf(t *testing.T, dir string) v1.ImageIndex {
	t.Helper()
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1" {
		t.Fatalf("%+v", manifest)
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

// Proves that a layout is valid, is the same when it is made again, and holds for each architecture
// its programs, certificates and a user without rights.
func TestLayout(t *testing.T) {
	from, out := programs(t), filepath.Join(t.TempDir(), "image")
	created := time.Unix(1_700_000_000, 0).UTC()
	var digests []string
	for range 2 {
		if err := Write(out, from, "v1", created, map[string][]byte{"LICENSE": []byte("Apache")}); err != nil {
			t.Fatal(err)
		}
		digest, err := indexOf(t, out).Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest.String())
	}
	if digests[0] != digests[1] {
		t.Errorf("made twice: %v", digests)
	}
	index := indexOf(t, out)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 2 {
		t.Fatalf("%+v", manifest)
	}
	for _, m := range manifest.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		check(t, image, m.Platform.Architecture)
	}
}

func check(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != arch || config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/stopgate" {
		t.Errorf("%+v", config)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	files := filesOf(t, content)
	if len(files) != 16 || files["usr/share/licenses/stopgate/LICENSE"] != "Apache\x00644" || files["stopgate"] != "stopgate for "+arch+"\x00755" || files["stopgate-hook"] != "stopgate-hook for "+arch+"\x00755" || !strings.Contains(files["etc/passwd"], "65532") {
		t.Errorf("%d files", len(files))
	}
	certificates := files["etc/ssl/certs/ca-certificates.crt"]
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM([]byte(certificates)) || strings.Count(certificates, "BEGIN CERTIFICATE") < 80 {
		t.Errorf("%d bytes of certificates", len(certificates))
	}
}

// filesOf reads a layer: the text and the mode of each file, by name.
func filesOf(t *testing.T, layer io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(layer); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name] = string(text); (h.Uid != 0) != (h.Name == "var/lib/stopgate/") || h.Mode&0o022 != 0 {
			t.Errorf("%s: user %d, mode %o", h.Name, h.Uid, h.Mode)
		}
		files[h.Name] += fmt.Sprintf("\x00%o", h.Mode)
	}
}

func TestNoPrograms(t *testing.T) {
	out := filepath.Join(t.TempDir(), "image")
	if err := Write(out, t.TempDir(), "v1", time.Time{}, nil); err == nil {
		t.Error("an image without programs")
	}
	half := programs(t)
	if err := os.Remove(filepath.Join(half, "linux-arm64", "stopgate-hook")); err != nil {
		t.Fatal(err)
	}
	if err := Write(out, half, "v1", time.Time{}, nil); err == nil {
		t.Error("an image without one of its programs")
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a layout is left")
	}
}
