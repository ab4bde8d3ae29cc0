package bundle_test

import (
	"bytes"
	"testing"

	"github.com/stopgate/stopgate/internal/bundle"
)

// Bytes that are accepted are the bytes that the builder makes of what was read.
func FuzzRead(f *testing.F) {
	canary := content(8, "a.toml", "tools.json")
	f.Add(build(f, canary).Archive)
	canary.Canary, canary.Previous = 2500, build(f, content(7, "b.toml"))
	f.Add(build(f, canary).Archive)
	f.Add(build(f, canary).Archive[:1500])
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := bundle.Read(data)
		if err != nil {
			return
		}
		again, err := bundle.Build(b.Content)
		if err != nil || !bytes.Equal(again.Archive, data) {
			t.Fatalf("accepted, and built in another form: %v", err)
		}
	})
}

// What the builder makes is read back as it was.
func FuzzBuild(f *testing.F) {
	f.Add(uint64(1), "a.toml", []byte("x"), "b.toml", []byte("y"))
	f.Add(uint64(9), "tools.json", []byte("[]"), "x/y.toml", []byte{0, 255})
	f.Fuzz(func(t *testing.T, generation uint64, name1 string, data1 []byte, name2 string, data2 []byte) {
		b, err := bundle.Build(bundle.Content{Generation: generation, Created: created, Files: []bundle.File{{Name: name1, Data: data1}, {Name: name2, Data: data2}}})
		if err != nil {
			return
		}
		back, err := bundle.Read(b.Archive)
		if err != nil || back.Digest != b.Digest || back.Generation != generation || len(back.Files) != 2 {
			t.Fatalf("%v, %+v", err, back)
		}
		for _, f := range b.Files {
			if data, ok := back.File(f.Name); !ok || !bytes.Equal(data, f.Data) {
				t.Fatalf("%s: %q", f.Name, data)
			}
		}
	})
}
