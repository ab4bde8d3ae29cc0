package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is what is measured of one package, without its tests.
type module struct {
	path, name string
	code       int // lines with code
	lines      int // all lines
	exported   int // constants, variables, functions and types
	methods    map[string]int
	words      map[string]int // of comments
}

func (m *module) public() bool {
	inside := slices.ContainsFunc([]string{"/internal/", "/examples/", "/cmd/"}, func(dir string) bool { return strings.Contains(m.path, dir) })
	return m.exported > 0 && m.name != "main" && !inside
}

func read(p listed) (*module, error) {
	m := &module{path: p.ImportPath, name: p.Name, methods: map[string]int{}, words: map[string]int{}}
	for _, name := range append(p.GoFiles, p.IgnoredGoFiles...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		if generated(text) {
			continue
		}
		if err := m.file(name, text); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// generated reports whether a program wrote the file: it is data.
func generated(text []byte) bool {
	return strings.HasPrefix(string(text), "// Code generated ")
}

func (m *module) file(name string, text []byte) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	file := set.File(f.Pos())
	m.lines += file.LineCount()
	m.code += codeLines(name, text)
	for _, group := range f.Comments {
		for _, c := range group.List {
			m.count(c.Text)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			m.function(d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					m.export(s.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						m.export(n)
					}
				}
			}
		}
	}
	return nil
}

func (m *module) function(d *ast.FuncDecl) {
	if d.Recv == nil {
		m.export(d.Name)
		return
	}
	m.methods[receiver(d.Recv.List[0].Type)]++
}

func (m *module) export(name *ast.Ident) {
	if name.IsExported() {
		m.exported++
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// codeLines counts the lines that have more than comments.
func codeLines(name string, text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(lit, "\n") // raw strings go over lines
		n += end - max(first, last+1) + 1
		last = max(last, end)
	}
}

var wordPattern = regexp.MustCompile(`[a-z']+`)

func (m *module) count(comment string) {
	if strings.HasPrefix(comment, "//go:") {
		return
	}
	for _, w := range wordPattern.FindAllString(strings.ToLower(comment), -1) {
		m.words[w]++
	}
}

// reference is how often words are in 100,000 words of the comments of cedar-go, jsontext,
// age, upspin, caddy and litestream.
var reference = []struct {
	word  string
	count int
}{
	{"what", 35}, {"says", 2}, {"stands", 0}, {"nobody", 1}, {"somebody", 0}, {"behind", 4}, {"beside", 0}, {"whoever", 0}, {"told", 2},
	{"said", 0}, {"nothing", 33}, {"use", 436}, {"should", 215}, {"config", 264}, {"interface", 129}, {"will", 350}, {"specific", 110},
	{"ensure", 54}, {"this", 954},
}
