package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// format is the version of the archive's format.
// Version 1: 2026-11.
const format = 1

// manifest describes the content of an archive, in its first file.
type manifest struct {
	Format     int            `json:"format"`
	Generation uint64         `json:"generation"`
	Created    string         `json:"created"`
	Canary     string         `json:"canary,omitempty"`
	Files      []manifestFile `json:"files"`
	Previous   *manifestFile  `json:"previous,omitempty"`
}

// manifestFile is the row of a file.
type manifestFile struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

func rowOf(name string, data []byte) manifestFile {
	sum := sha256.Sum256(data)
	return manifestFile{name, len(data), hex.EncodeToString(sum[:])}
}

// manifestOf returns the manifest of a content.
func manifestOf(c *Content) ([]byte, error) {
	m := manifest{Format: format, Generation: c.Generation, Created: c.Created.UTC().Format(time.RFC3339), Canary: c.Canary.String(), Files: []manifestFile{}}
	for _, f := range c.Files {
		m.Files = append(m.Files, rowOf(f.Name, f.Data))
	}
	if c.Previous != nil {
		row := rowOf(previousName, c.Previous.Archive)
		m.Previous = &row
	}
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// parseManifest reads a manifest. Whether it is the one that belongs to the files is not checked.
func parseManifest(text []byte) (c Content, err error) {
	var m manifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var head struct{ Format int }
	if err := json.Unmarshal(text, &head); err == nil && head.Format != format {
		return c, fmt.Errorf("format %d of the manifest is not supported: this stopgate reads format %d", head.Format, format)
	}
	if err := d.Decode(&m); err != nil {
		return c, fmt.Errorf("manifest: %w", err)
	}
	c.Generation = m.Generation
	if c.Created, err = time.Parse(time.RFC3339, m.Created); err != nil {
		return c, errors.New("manifest: created is not a time of RFC 3339")
	}
	if m.Canary != "" {
		if c.Canary, err = ParseShare(m.Canary); err != nil {
			return c, fmt.Errorf("manifest: canary: %w", err)
		}
	}
	return c, nil
}
