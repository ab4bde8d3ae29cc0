package bundle_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/bundle"
)

var created = time.Date(2026, 11, 27, 14, 0, 0, 0, time.UTC)

// content is a small content.
func content(generation uint64, files ...string) bundle.Content {
	c := bundle.Content{Generation: generation, Created: created}
	for _, name := range files {
		c.Files = append(c.Files, bundle.File{Name: name, Data: []byte("version = 1 # " + name + "\n")})
	}
	return c
}

func build(t testing.TB, c bundle.Content) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBuildIsCanonical(t *testing.T) {
	c := content(7, "b.toml", "teams/a.toml", "tools.json")
	b := build(t, c)
	slices.Reverse(c.Files)
	c.Created = c.Created.Add(300 * time.Millisecond).In(time.FixedZone("", 3600))
	if other := build(t, c); !bytes.Equal(b.Archive, other.Archive) || b.Digest != other.Digest {
		t.Error("the order of files, or parts of a second, are in the archive")
	}
	// The bytes are a promise: archives of today are read by every later version.
	if want := "82934802137c68d6d93d8e407a3590238a232453853fb9c4bb6603ec00f4efd6"; b.Digest != want {
		t.Errorf("digest %s, want %s", b.Digest, want)
	}
	back, err := bundle.Read(b.Archive)
	if err != nil {
		t.Fatal(err)
	}
	if back.Digest != b.Digest || back.Generation != 7 || !back.Created.Equal(created) || len(back.Files) != 3 || back.Canary != 0 || back.Previous != nil {
		t.Errorf("read: %+v", back.Content)
	}
	if data, ok := back.File("teams/a.toml"); !ok || string(data) != "version = 1 # teams/a.toml\n" {
		t.Errorf("%q %t", data, ok)
	}
	if _, ok := back.File("c.toml"); ok {
		t.Error("a file that is not there")
	}
}

func TestCanary(t *testing.T) {
	c := content(8, "a.toml")
	c.Canary, c.Previous = 1000, build(t, content(7, "b.toml"))
	b := build(t, c)
	back, err := bundle.Read(b.Archive)
	if err != nil {
		t.Fatal(err)
	}
	if back.Canary.String() != "10%" || back.Previous.Digest != c.Previous.Digest || back.Previous.Generation != 7 {
		t.Errorf("%+v", back.Content)
	}
}

func TestBuildRefuses(t *testing.T) {
	canary := content(8, "a.toml")
	canary.Canary, canary.Previous = 1000, build(t, content(7, "b.toml"))
	for _, c := range []struct {
		name   string
		change func(*bundle.Content)
		want   string
	}{
		{"no generation", func(c *bundle.Content) { c.Generation = 0 }, "generation 0"},
		{"a generation that stores cannot keep", func(c *bundle.Content) { c.Generation = 1 << 63 }, "too large"},
		{"no files", func(c *bundle.Content) { c.Files = nil }, "no files"},
		{"no policy", func(c *bundle.Content) { c.Files = []bundle.File{{Name: "tools.json"}} }, "no policy"},
		{"many files", func(c *bundle.Content) {
			for i := range 256 {
				c.Files = append(c.Files, bundle.File{Name: fmt.Sprintf("%d.toml", i)})
			}
		}, "257 files"},
		{"parent", name("../a.toml"), "no name"},
		{"absolute", name("/a.toml"), "no name"},
		{"backslash", name(`..\a.toml`), "no name"},
		{"drive", name("c:a.toml"), "no name"},
		{"hidden", name(".git/a.toml"), "no name"},
		{"empty part", name("a//b.toml"), "no name"},
		{"control", name("a\x00.toml"), "no name"},
		{"unicode", name("ä.toml"), "no name"},
		{"option", name("-a.toml"), "no name"},
		{"another kind", name("run.sh"), "want a policy"},
		{"pins", name("pins.json"), "want a policy"},
		{"manifest", name("manifest.json"), "want a policy"},
		{"long", name(strings.Repeat("a", 100) + ".toml"), "bytes"},
		{"twice", name("a.toml"), "one name"},
		{"case twins", name("A.toml"), "one name"},
		{"canary without the rest", func(c *bundle.Content) { c.Canary = 1000 }, "canary"},
		{"rest without a canary", func(c *bundle.Content) { c.Previous = canary.Previous }, "canary"},
		{"canary for all", func(c *bundle.Content) { c.Canary, c.Previous = 10000, canary.Previous }, "everyone"},
		{"canary of a canary", func(c *bundle.Content) { c.Generation, c.Canary, c.Previous = 9, 1000, build(t, canary) }, "canary itself"},
		{"older than the rest", func(c *bundle.Content) { c.Canary, c.Previous = 1000, canary.Previous }, "not newer"},
	} {
		content := content(7, "a.toml")
		c.change(&content)
		if _, err := bundle.Build(content); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func name(name string) func(*bundle.Content) {
	return func(c *bundle.Content) { c.Files = append(c.Files, bundle.File{Name: name}) }
}

func TestShares(t *testing.T) {
	for _, text := range []string{"10%", "0.25%", "99.99%", "0.01%", "12.5%"} {
		if s, err := bundle.ParseShare(text); err != nil || s.String() != text {
			t.Errorf("%s: %v %v", text, s, err)
		}
	}
	for _, text := range []string{"", "10", "%", "0%", "100%", "-1%", "1e1%", "10.0%", "010%", "0.001%", "1.%", "655.37%", "1 %", "0x1%"} {
		if s, err := bundle.ParseShare(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}

// entry is an entry of an archive that is written by hand.
type entry struct {
	header tar.Header
	data   string
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := e.header
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		h.Size, h.Mode, h.ModTime = int64(len(e.data)), cmpOr(h.Mode, 0o644), time.Unix(0, 0)
		if h.Format == 0 {
			h.Format = tar.FormatUSTAR
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func cmpOr(a, b int64) int64 {
	if a != 0 {
		return a
	}
	return b
}

// Proves S70: every change of an archive is refused, whatever a reader of tar files makes of it.
func TestReadRefuses(t *testing.T) {
	b := build(t, content(7, "a.toml", "b.toml"))
	text, files := unpack(t, b.Archive)
	same := func(entries ...entry) []byte { return archive(t, append([]entry{text}, entries...)...) }
	if !bytes.Equal(same(files...), b.Archive) {
		t.Fatal("the test writes another form")
	}
	with := func(change func(*tar.Header)) []byte {
		e := files[1]
		change(&e.header)
		return same(files[0], e)
	}
	for name, data := range map[string][]byte{
		"empty":             nil,
		"zeros":             make([]byte, 1<<20),
		"truncated":         b.Archive[:len(b.Archive)-1],
		"cut in a file":     b.Archive[:len(b.Archive)-1024-300],
		"cut in a header":   b.Archive[:700],
		"without its end":   b.Archive[:len(b.Archive)-1024],
		"trailing byte":     append(slices.Clone(b.Archive), 0),
		"trailing block":    append(slices.Clone(b.Archive), make([]byte, 512)...),
		"trailing archive":  append(slices.Clone(b.Archive), b.Archive...),
		"reordered":         same(files[1], files[0]),
		"missing file":      same(files[0]),
		"duplicate":         same(files[0], files[1], files[1]),
		"extra file":        same(files[0], files[1], entry{tar.Header{Name: "c.toml"}, ""}),
		"manifest last":     archive(t, files[0], files[1], text),
		"two manifests":     same(text, files[0], files[1]),
		"mode":              with(func(h *tar.Header) { h.Mode = 0o755 }),
		"owner":             with(func(h *tar.Header) { h.Uid = 1 }),
		"user name":         with(func(h *tar.Header) { h.Uname = "root" }),
		"renamed":           with(func(h *tar.Header) { h.Name = "c.toml" }),
		"parent":            with(func(h *tar.Header) { h.Name = "../b.toml" }),
		"absolute":          with(func(h *tar.Header) { h.Name = "/b.toml" }),
		"case twin":         with(func(h *tar.Header) { h.Name = "A.toml" }),
		"extended header":   with(func(h *tar.Header) { h.Format = tar.FormatPAX; h.PAXRecords = map[string]string{"X.y": "z"} }),
		"GNU format":        with(func(h *tar.Header) { h.Format = tar.FormatGNU }),
		"symbolic link":     same(files[0], entry{tar.Header{Name: "b.toml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}),
		"hard link":         same(files[0], entry{tar.Header{Name: "b.toml", Typeflag: tar.TypeLink, Linkname: "a.toml"}, ""}),
		"directory":         same(files[0], files[1], entry{tar.Header{Name: "d/", Typeflag: tar.TypeDir}, ""}),
		"other bytes":       bytes.Replace(b.Archive, []byte("# b.toml"), []byte("# B.toml"), 1),
		"spaces":            archive(t, entry{text.header, " " + text.data}, files[0], files[1]),
		"unknown member":    archive(t, entry{text.header, strings.Replace(text.data, `"format"`, `"x": 1, "format"`, 1)}, files[0], files[1]),
		"another format":    archive(t, entry{text.header, strings.Replace(text.data, `"format": 1`, `"format": 2`, 1)}, files[0], files[1]),
		"no JSON":           archive(t, entry{text.header, "x"}, files[0], files[1]),
		"a huge manifest":   archive(t, entry{text.header, text.data + strings.Repeat(" ", 1<<18)}, files[0], files[1]),
		"more than allowed": make([]byte, bundle.MaxArchive+1),
	} {
		if got, err := bundle.Read(data); err == nil {
			t.Errorf("%s is accepted: %+v", name, got.Content)
		}
	}
}

// unpack returns the entries of an archive.
func unpack(t *testing.T, data []byte) (first entry, rest []entry) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err != nil {
			return first, rest
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		e := entry{tar.Header{Name: h.Name}, text.String()}
		if first.header.Name == "" {
			first = e
			continue
		}
		rest = append(rest, e)
	}
}

// The longest archive has as many bytes as gates read.
func TestSize(t *testing.T) {
	c := content(1, "a.toml")
	c.Files = append(c.Files, bundle.File{Name: "b.toml", Data: make([]byte, bundle.MaxArchive)})
	if _, err := bundle.Build(c); err == nil {
		t.Error("an archive that gates refuse was built")
	}
}
