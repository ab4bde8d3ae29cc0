// Package packs has the policies that policy files can use by name: `use = ["coding", "go"]`.
//
//	p, ok := packs.Lookup("go")
//
// A pack is a policy file in this program: lists of commands that only look, guards, tools of a server. Its
// text is data/NAME.toml, its cases are data/NAME.test.toml. It begins with a table [pack]:
// its version, which grows with every change of its meaning, one sentence about it, and
// every permission that it brings, in words.
//
// The package does no I/O.
package packs

import (
	"embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed data
var data embed.FS

// Pack is one pack.
type Pack struct {
	Name string
	Text []byte // as `stopgate packs show` prints it
	Head
}

// Head is the table [pack] of a pack.
type Head struct {
	Version int      `toml:"version"`
	About   string   `toml:"about"`   // one sentence
	Permits []string `toml:"permits"` // everything that runs without a question because of it
}

// Prefix begins the names of packs where messages and records name a policy's text.
const Prefix = "pack:"

// File returns the name of the pack's text in messages and records.
func (p Pack) File() string { return Prefix + p.Name }

// Lookup returns a pack.
func Lookup(name string) (p Pack, ok bool) {
	p, ok = load()[name]
	return p, ok
}

// Text returns the text that messages and records name, nil if it is no pack.
func Text(file string) []byte {
	name, ok := strings.CutPrefix(file, Prefix)
	if !ok {
		return nil
	}
	return load()[name].Text
}

// Names lists the packs in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(load())) }

// Cases returns the cases that test a pack, as a file of `stopgate test`.
func Cases(name string) ([]byte, error) {
	return data.ReadFile("data/" + fileName(name) + ".test.toml")
}

// fileName is the name of a pack as a file: that of a server is mcp-NAME.
func fileName(name string) string { return strings.ReplaceAll(name, "/", "-") }

// load reads the heads of all packs, once. A test reads every pack, so that an error here
// is a mistake that never leaves the repository; a pack that cannot be read does not exist.
var load = sync.OnceValue(func() map[string]Pack {
	all := make(map[string]Pack)
	entries, _ := data.ReadDir("data")
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if !ok || strings.HasSuffix(name, ".test") {
			continue
		}
		text, err := data.ReadFile("data/" + e.Name())
		if err != nil {
			continue
		}
		var file struct {
			Pack Head `toml:"pack"`
		}
		if err := toml.Unmarshal(text, &file); err != nil || file.Pack.Version < 1 {
			continue
		}
		if server, ok := strings.CutPrefix(name, "mcp-"); ok {
			name = "mcp/" + server
		}
		all[name] = Pack{Name: name, Text: text, Head: file.Pack}
	}
	return all
})
