package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Limits of an archive.
const (
	MaxArchive  = 32 << 20  // bytes
	maxFiles    = 256       // files, without the manifest
	maxManifest = 256 << 10 // bytes
	maxName     = 99        // bytes, so that the archive needs no extension of tar
)

// The names of files that are not policies.
const (
	ToolsFile    = "tools.json" // definitions of tools, as --tools takes them
	manifestName = "manifest.json"
	previousName = "previous.bundle"
)

// File is a file of a bundle.
type File struct {
	// Name is a relative path with slashes: a policy file (.toml) or [ToolsFile].
	Name string
	Data []byte
}

// IsPolicy reports whether the file is a policy file.
func (f File) IsPolicy() bool { return strings.HasSuffix(f.Name, ".toml") }

// Content is what a bundle is built of.
type Content struct {
	// Generation counts the bundles of a channel. A gate never goes back to an older one.
	Generation uint64
	// Created is the time of the content, in whole seconds.
	Created time.Time
	// Files are the files in any order.
	Files []File
	// Canary is the share of the sessions that have the rules of this bundle; the others have
	// those of Previous. Both are zero if all sessions have the rules of this bundle.
	Canary   Share
	Previous *Bundle
}

// Bundle is a content with its archive. It is immutable.
type Bundle struct {
	Content
	Archive []byte
	Digest  string // SHA-256 of Archive in hex
}

// File returns the data of a file; ok is false if the bundle has no file of that name.
func (b *Bundle) File(name string) (data []byte, ok bool) {
	for _, f := range b.Files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

// Build makes a bundle. Equal contents have equal archives, whatever the order of their files.
func Build(c Content) (*Bundle, error) {
	b, err := build(c)
	if err != nil {
		return nil, fmt.Errorf("build bundle: %w", err)
	}
	return b, nil
}

func build(c Content) (*Bundle, error) {
	c.Files = slices.Clone(c.Files)
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	c.Created = c.Created.UTC().Truncate(time.Second)
	if err := c.check(); err != nil {
		return nil, err
	}
	text, err := manifestOf(&c)
	if err != nil {
		return nil, err
	}
	archive, err := pack(text, &c)
	if err != nil {
		return nil, err
	}
	if len(archive) > MaxArchive {
		return nil, fmt.Errorf("the archive has %d bytes, more than %d", len(archive), MaxArchive)
	}
	sum := sha256.Sum256(archive)
	return &Bundle{c, archive, hex.EncodeToString(sum[:])}, nil
}

// check finds mistakes in a content with sorted files.
func (c *Content) check() error {
	switch y := c.Created.Year(); {
	case c.Generation == 0:
		return errors.New("generation 0: generations count from 1")
	case c.Generation > math.MaxInt64: // stores keep it as a signed number
		return fmt.Errorf("generation %d is too large", c.Generation)
	case y < 1970 || y > 9999:
		return fmt.Errorf("created in the year %d", y)
	case len(c.Files) == 0:
		return errors.New("it has no files")
	case len(c.Files) > maxFiles:
		return fmt.Errorf("%d files, more than %d", len(c.Files), maxFiles)
	case !slices.ContainsFunc(c.Files, File.IsPolicy):
		return errors.New("it has no policy file (.toml)")
	case (c.Canary == 0) != (c.Previous == nil):
		return errors.New("a canary needs the bundle of the other sessions, and only a canary has one")
	case c.Canary >= everyone:
		return errors.New("a canary for everyone is none")
	}
	folded := map[string]string{}
	for _, f := range c.Files {
		if err := checkName(f.Name); err != nil {
			return err
		}
		lower := strings.ToLower(f.Name)
		if other, ok := folded[lower]; ok {
			return fmt.Errorf("two files with one name: %q and %q", other, f.Name)
		}
		folded[lower] = f.Name
	}
	if p := c.Previous; p != nil {
		if p.Previous != nil {
			return errors.New("the bundle of the other sessions is a canary itself")
		}
		if p.Generation >= c.Generation {
			return fmt.Errorf("generation %d is not newer than generation %d of the other sessions", c.Generation, p.Generation)
		}
	}
	return nil
}

// checkName accepts the relative paths of policies, and the names of the other files.
func checkName(name string) error {
	bad := func(why string) error { return fmt.Errorf("%q is no name for a file of a bundle: %s", name, why) }
	if len(name) > maxName {
		return fmt.Errorf("the name of a file has %d bytes, more than %d", len(name), maxName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' || strings.ContainsFunc(part, outsideNames) {
			return bad("want a relative path of letters, digits and . _ -, whose parts begin with a letter, digit or _")
		}
	}
	if name != ToolsFile && !(File{Name: name}).IsPolicy() {
		return bad("want a policy (.toml) or " + ToolsFile)
	}
	return nil
}

func outsideNames(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
		return false
	}
	return true
}

// Read reads an archive. It accepts the archives that [Build] makes and no others.
func Read(archive []byte) (*Bundle, error) {
	b, err := read(archive, true)
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	return b, nil
}

func read(archive []byte, outer bool) (*Bundle, error) {
	if len(archive) > MaxArchive {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(archive), MaxArchive)
	}
	text, files, previous, err := unpack(archive)
	if err != nil {
		return nil, err
	}
	c, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	c.Files = files
	if previous != nil {
		if !outer {
			return nil, errors.New("the bundle of the other sessions is a canary itself")
		}
		if c.Previous, err = read(previous, false); err != nil {
			return nil, fmt.Errorf("%s: %w", previousName, err)
		}
	}
	b, err := build(c)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(b.Archive, archive) {
		return nil, errNotCanonical
	}
	return b, nil
}

// errNotCanonical is the error for an archive with the right files in another form.
var errNotCanonical = errors.New("the archive does not have the form that stopgate bundle build writes: it was changed, repacked or cut")
