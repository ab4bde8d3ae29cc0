package stopgate_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// The exported API is written down in testdata/api.txt: what a change adds, removes or
// renames is seen in its diff. Write it anew with go test . -run TestAPI -update.
func TestAPI(t *testing.T) {
	var out bytes.Buffer
	packages, names := 0, 0
	for _, dir := range publicPackages(t) {
		lines := exported(t, dir)
		if len(lines) == 0 {
			continue
		}
		packages++
		fmt.Fprintf(&out, "package %s\n", dir)
		for _, l := range lines {
			names += strings.Count(l, "\n")
			out.WriteString(l)
		}
		out.WriteByte('\n')
	}
	const golden = "testdata/api.txt"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d public packages, %d lines", packages, names)
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("the exported API is another than %s; if that is meant, go test . -run TestAPI -update\n%s", golden, firstDifference(out.String(), string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// publicPackages lists the directories of packages that other modules can import.
func publicPackages(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := d.Name()
		if path != "." && (strings.HasPrefix(name, ".") || slices.Contains([]string{"internal", "testdata", "interop", "deploy", "cmd", "docs", "examples"}, name)) {
			return fs.SkipDir
		}
		dirs = append(dirs, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// exported returns the exported declarations (with the exported methods of unexported types,
// which others may embed) of a package without bodies, comments and
// unexported members, in order.
func exported(t *testing.T, dir string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name == "main" || !ast.FileExports(f) {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body, d.Doc = nil, nil
				lines = append(lines, print(t, d))
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if d.Tok == token.IMPORT {
						continue
					}
					lines = append(lines, print(t, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{s}}))
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines) // a file for each system declares the same
}

func print(t *testing.T, node any) string {
	t.Helper()
	ast.Inspect(node.(ast.Node), func(n ast.Node) bool {
		if c, ok := n.(*ast.Field); ok {
			c.Doc, c.Comment = nil, nil
		}
		switch s := n.(type) {
		case *ast.ValueSpec:
			s.Doc, s.Comment = nil, nil
		case *ast.TypeSpec:
			s.Doc, s.Comment = nil, nil
		}
		return true
	})
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), node); err != nil {
		t.Fatal(err)
	}
	return b.String() + "\n"
}
