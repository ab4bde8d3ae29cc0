// Package packs has the policies that policy files can use by name: `use = ["coding", "go"]`.
//
//	p, ok := packs.Lookup("go")
//
// A pack is a policy file in this program: lists of commands that only look, guards, tools of a server. Its
// text is data/NAME.toml, its cases are data/NAME.test.toml. It begins with a table [pack]:
// its version, which grows with every change of its meaning, one sentence about it, and
// every permission that it brings, in words. The pack of an MCP server also lists how the server is
// started, see [ForServer]; its tools are named SERVER__TOOL.
//
// The package does no I/O.
package packs

import (
	"bytes"
	"embed"
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
	Servers []string `toml:"servers"` // packages, images and addresses of the MCP server whose tools it names
}

// Prefix begins the names of packs where messages and records name a policy's text.
const Prefix = "pack:"

// mcp begins the names of packs for MCP servers; their files begin with mcp-.
const mcp = "mcp/"

// File returns the name of the pack's text in messages and records.
func (p Pack) File() string { return Prefix + p.Name }

// Server returns the name that the MCP server of the pack has in policies, "" for a pack of another kind.
func (p Pack) Server() string {
	if len(p.Servers) == 0 {
		return ""
	}
	return strings.TrimPrefix(p.Name, mcp)
}

// OfServer reports whether a name is that of the pack of an MCP server, existing or not.
func OfServer(name string) bool { return strings.HasPrefix(name, mcp) }

// Lookup returns a pack.
func Lookup(name string) (p Pack, ok bool) {
	if name != packName(fileName(name)) {
		return Pack{}, false
	}
	mu.Lock()
	defer mu.Unlock()
	if p, ok = loaded[name]; !ok {
		if p, ok = read(name); ok {
			loaded[name] = p
		}
	}
	return p, ok
}

// Text returns the text that messages and records name, nil if it is no pack.
func Text(file string) []byte {
	name, ok := strings.CutPrefix(file, Prefix)
	if !ok {
		return nil
	}
	p, _ := Lookup(name)
	return p.Text
}

// Names lists the packs in alphabetical order.
func Names() (names []string) {
	entries, _ := data.ReadDir("data") // of a directory that is compiled in
	for _, e := range entries {
		if name, ok := NameOf(e.Name()); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// NameOf returns the name of the pack whose text a file is, by the name of the file. FileName is the inverse.
func NameOf(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, ".toml")
	return packName(name), ok && !strings.HasSuffix(name, ".test")
}

// FileName returns the name of the file with the text of a pack.
func FileName(name string) string { return fileName(name) + ".toml" }

// Cases returns the cases that test a pack, as a file of `stopgate test`.
func Cases(name string) ([]byte, error) {
	return data.ReadFile("data/" + fileName(name) + ".test.toml")
}

// fileName is the name of a pack as a file: that of a server is mcp-NAME. packName is the name of a file's pack.
func fileName(name string) string {
	if server, ok := strings.CutPrefix(name, mcp); ok {
		return "mcp-" + server
	}
	return name
}

func packName(file string) string {
	if server, ok := strings.CutPrefix(file, "mcp-"); ok {
		return mcp + server
	}
	return file
}

var (
	mu     sync.Mutex
	loaded = map[string]Pack{}
)

// read reads a pack. A test reads every pack, so that a mistake never leaves the repository; a pack that
// cannot be read does not exist.
func read(name string) (Pack, bool) {
	text, err := data.ReadFile("data/" + FileName(name))
	if err != nil || strings.HasSuffix(name, ".test") {
		return Pack{}, false
	}
	p := Parse(name, text)
	return p, p.Version > 0
}

// headOf is the line of the table [pack].
var headOf = []byte("\n[pack]\n")

// Parse returns the pack that a text is, without a version if it is none. Only the head is parsed, because a
// process that answers one call starts with it.
func Parse(name string, text []byte) Pack {
	p := Pack{Name: name, Text: text}
	head := text
	if at := bytes.Index(text, headOf); at >= 0 {
		at += len(headOf)
		if end := bytes.Index(text[at:], []byte("\n[")); end >= 0 {
			head = text[:at+end]
		}
	}
	var file struct {
		Pack Head `toml:"pack"`
	}
	if err := toml.Unmarshal(head, &file); err == nil {
		p.Head = file.Pack
	}
	return p
}
