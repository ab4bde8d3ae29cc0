// Package image writes the image of stopgate as an OCI layout, without a daemon: the two static
// programs, their licences, the root certificates of the public web, a user without rights and
// nothing else. The same programs give the same bytes.
package image

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Write makes the layout anew. The directory of programs has linux-amd64/stopgate, linux-arm64/stopgate
// and so on; licences are the files of every image in its directory of licences.
func Write(out, programs, version string, created time.Time, licences map[string][]byte) error {
	dirs, err := filepath.Glob(filepath.Join(programs, "linux-*"))
	if err != nil {
		return err
	}
	if slices.Sort(dirs); len(dirs) == 0 {
		return fmt.Errorf("%s has no directory linux-ARCH with programs", programs)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, dir := range dirs {
		arch := strings.TrimPrefix(filepath.Base(dir), "linux-")
		image, err := imageOf(dir, arch, version, created, licences)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	to, err := layout.Write(out, empty.Index)
	if err != nil {
		return err
	}
	named := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version})
	return to.ReplaceIndex(index, match.Name(version), named)
}

// imageOf makes the image of one architecture.
func imageOf(dir, arch, version string, created time.Time, licences map[string][]byte) (v1.Image, error) {
	files, err := layerOf(dir, created, licences)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: files, History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "stopgate " + version}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: created}
	config.Config = v1.Config{
		User:         "65532:65532",
		WorkingDir:   "/var/lib/stopgate",
		Entrypoint:   []string{"/stopgate"},
		Cmd:          []string{"up", "--policy", "/etc/stopgate/stopgate.toml", "--listen", "0.0.0.0:8788", "--log-format", "json"},
		ExposedPorts: map[string]struct{}{"8788/tcp": {}},
		Volumes:      map[string]struct{}{"/var/lib/stopgate": {}},
		StopSignal:   "SIGTERM",
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/stopgate", "health", "--url", "http://127.0.0.1:8788"}, Interval: 10 * time.Second, Timeout: 3 * time.Second},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "stopgate",
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.source":   "https://github.com/stopgate/stopgate",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}
