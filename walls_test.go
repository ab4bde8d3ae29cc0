package stopgate_test

import (
	"encoding/json"
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// open lists exported declarations that still mention a type of an internal package. A
// declaration that no longer does must leave the list.
var open = []string{}

// A program that imports a public package can name every type in its exported
// declarations. The numbers of packages and declarations only fall: the goal is 16 and
// 600.
func TestExportedDeclarationsHaveNoInternalTypes(t *testing.T) {
	const maxPackages, maxNames = 17, 782
	var public []string
	for _, dir := range publicPackages(t) {
		if len(exported(t, dir)) > 0 {
			public = append(public, path.Join(module, dir))
		}
	}
	imports := importerOf(t, public)
	names := 0
	var leaks []string
	for _, p := range public {
		pkg, err := imports.Import(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			names++
			w := walker{seen: map[types.Type]bool{}}
			w.declaration(o)
			if w.internal != "" {
				leaks = append(leaks, strings.TrimPrefix(p, module+"/")+"."+name)
				if !slices.Contains(open, leaks[len(leaks)-1]) {
					t.Errorf("%s.%s mentions %s", p, name, w.internal)
				}
			}
		}
	}
	for _, name := range open {
		if !slices.Contains(leaks, name) {
			t.Errorf("%s mentions no internal type: take it off the list", name)
		}
	}
	t.Logf("%d public packages, %d exported declarations", len(public), names)
	if len(public) > maxPackages || names > maxNames {
		t.Errorf("%d public packages, %d exported declarations; want at most %d and %d", len(public), names, maxPackages, maxNames)
	}
}

// Every public package shows how it is used in an example that runs.
func TestPublicPackagesHaveExamples(t *testing.T) {
	example := regexp.MustCompile(`(?ms)^func Example\w*\(\) \{.*?// Output:`)
	for _, dir := range publicPackages(t) {
		if len(exported(t, dir)) == 0 {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && example.Match(text)
		}) {
			t.Errorf("%s has no example with output", dir)
		}
	}
}

// walker looks for the first internal type that a declaration mentions.
type walker struct {
	seen     map[types.Type]bool
	internal string
}

func (w *walker) declaration(o types.Object) {
	name, ok := o.(*types.TypeName)
	if !ok {
		w.walk(o.Type())
		return
	}
	if name.IsAlias() {
		w.walk(types.Unalias(name.Type()))
		return
	}
	named := name.Type().(*types.Named)
	w.walk(named.Underlying())
	for m := range named.Methods() {
		if m.Exported() {
			w.walk(m.Type())
		}
	}
}

func (w *walker) walk(t types.Type) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && strings.HasPrefix(p.Path(), module+"/internal/") {
			w.internal = p.Path() + "." + t.Obj().Name()
		}
		for a := range t.TypeArgs().Types() {
			w.walk(a)
		}
	case *types.Alias:
		w.walk(types.Unalias(t))
	case *types.Map:
		w.walk(t.Key())
		w.walk(t.Elem())
	case interface{ Elem() types.Type }:
		w.walk(t.Elem())
	case *types.Signature:
		w.walk(t.Params())
		w.walk(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.walk(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.walk(f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				w.walk(m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			w.walk(e)
		}
	}
}

// importerOf reads the compiled form of packages.
func importerOf(t *testing.T, packages []string) types.Importer {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, packages...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(p string) (io.ReadCloser, error) { return os.Open(files[p]) })
}
