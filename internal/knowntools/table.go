package knowntools

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Version is the version of the form of the table.
const Version = 1

//go:embed data/*.toml
var files embed.FS

// Products lists the names of the products.
func Products() []string {
	entries, _ := files.ReadDir("data") // of a directory that is compiled in
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".toml")
	}
	return names
}

// Text returns the file of a product as it is.
func Text(name string) []byte {
	text, err := files.ReadFile("data/" + name + ".toml")
	if err != nil {
		panic(fmt.Sprintf("knowntools: no product %q", name))
	}
	return text
}

var (
	mu     sync.Mutex
	loaded = map[string]*Product{}
	heads  = map[string]*Product{} // without their rows
	rows   = map[[2]string]*Tool{} // by product and name; nil where there is none
)

// Load returns a product. It panics if there is none of the name, or if its file is
// invalid: both are errors in the program, and a gate that panics denies.
func Load(name string) *Product {
	mu.Lock()
	defer mu.Unlock()
	return kept(loaded, name, Text(name))
}

// head returns a product without its rows.
func head(name string) *Product {
	mu.Lock()
	defer mu.Unlock()
	begin, _, _ := bytes.Cut(Text(name), rowHeader)
	return kept(heads, name, begin)
}

// rowHeader begins a row. The next line holds the names of the row.
var rowHeader = []byte("\n[[tool]]\n")

// row returns the row of a product that has a name, nil if there is none. Only that row is
// parsed, because a process that answers one call needs one.
func row(product, name string) *Tool {
	mu.Lock()
	defer mu.Unlock()
	key := [2]string{product, name}
	if t, known := rows[key]; known {
		return t
	}
	var found *Tool
	blocks := bytes.Split(Text(product), rowHeader)
	for _, block := range blocks[1:] {
		if names, _, _ := bytes.Cut(block, []byte("\n")); bytes.Contains(names, []byte(`"`+name+`"`)) {
			if found = parsed(product, slices.Concat(blocks[0], rowHeader, block)).byName[name]; found != nil {
				break
			}
		}
	}
	if len(rows) < maxRows {
		rows[key] = found
	}
	return found
}

// maxRows limits the number of cached names.
const maxRows = 4096

// kept parses a product once. mu is held.
func kept(products map[string]*Product, name string, text []byte) *Product {
	p := products[name]
	if p == nil {
		p = parsed(name, text)
		products[name] = p
	}
	return p
}

func parsed(name string, text []byte) *Product {
	p, found := Parse(name+".toml", text)
	if found.HasErrors() {
		panic(fmt.Sprintf("knowntools: %v", found))
	}
	return p
}

// Parse reads the file of a product.
func Parse(file string, text []byte) (*Product, diag.List) {
	doc, found := tomltree.Parse(file, text)
	if found.HasErrors() {
		return nil, found
	}
	var in struct {
		Version  int      `toml:"version,required"`
		Product  string   `toml:"product,required"`
		Title    string   `toml:"title,required"`
		Source   string   `toml:"source,required"`
		Hosts    []string `toml:"hosts"`
		Servers  []string `toml:"servers"`
		Includes []string `toml:"includes"`
		Tools    []struct {
			Names      []string        `toml:"names,required"`
			Class      string          `toml:"class,required"`
			Starters   *tomltree.Value `toml:"starters"`
			Harmless   bool            `toml:"harmless"`
			Effect     *bool           `toml:"effect"`
			Source     string          `toml:"source"`
			Varies     []string        `toml:"varies"`
			Parameters *tomltree.Value `toml:"parameters"`
		} `toml:"tool"`
	}
	if found = tomltree.Decode(doc.Root, &in); found.HasErrors() {
		return nil, found
	}
	mistake := func(v *tomltree.Value, format string, args ...any) {
		found.Add(diag.Diagnostic{Code: diag.WrongType, File: file, Range: v.Range, Message: fmt.Sprintf(format, args...)})
	}
	if in.Version != Version {
		mistake(doc.Root, "version %d is not %d", in.Version, Version)
	}
	p := &Product{
		Name: in.Product, Title: in.Title, Source: in.Source, Hosts: in.Hosts, Servers: in.Servers, Includes: in.Includes,
		Tools: make([]*Tool, 0, len(in.Tools)), byName: make(map[string]*Tool, len(in.Tools)),
	}
	for _, row := range in.Tools {
		t := &Tool{Names: row.Names, Class: Class(row.Class), Harmless: row.Harmless, Effect: Class(row.Class).effect(), Source: row.Source, Varies: row.Varies, Product: p}
		if row.Effect != nil {
			t.Effect = *row.Effect
		}
		if t.Source == "" {
			t.Source = p.Source
		}
		if !slices.Contains(Classes(), t.Class) {
			mistake(doc.Root, "row %v: %q is not a class", t.Names, row.Class)
		}
		if row.Starters != nil {
			for _, e := range row.Starters.Entries {
				for _, name := range e.Value.Elements {
					if !slices.Contains(t.Names, name.Text) {
						mistake(name, "starters: %q is not a name of the row", name.Text)
					}
					t.Starters = append(t.Starters, Listed{Starter: e.Key, Name: name.Text})
				}
			}
		}
		if row.Parameters != nil {
			for _, e := range row.Parameters.Entries {
				kind := Kind(e.Value.Text)
				if e.Value.Kind != tomltree.String || !slices.Contains(Kinds(), kind) {
					mistake(e.Value, "parameter %s: %q is not a kind", e.Key, e.Value.Text)
				}
				t.Parameters = append(t.Parameters, parameter(e.Key, kind))
			}
		}
		for _, name := range t.Varies {
			if !slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Name == name && (p.Kind == Value || p.Members) }) {
				mistake(doc.Root, "row %v: %s varies, and is not a value", t.Names, name)
			}
		}
		p.Tools = append(p.Tools, t)
		for _, name := range t.Names {
			if p.byName[name] != nil {
				mistake(doc.Root, "two rows have the name %s", name)
			}
			p.byName[name] = t
		}
	}
	return p, found
}
