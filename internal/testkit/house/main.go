// House prints measures of the code: its lines, what deciding links, the largest packages
// and types, what is exported, and the words of its comments.
//
//	make house
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

// closures are the parts of the program whose dependencies are counted, and how many lines of
// code those may have.
var closures = []struct {
	name   string
	of     []string
	budget int
}{
	{"the gate", []string{"./gate"}, 8_000},
	{"evaluation", []string{"./internal/eval", "./internal/condition/plaintext", "./internal/condition/pathname", "./internal/condition/number"}, 20_000},
	{"everything that decides", []string{"./gate", "./internal/policy", "./session/policies"}, 35_000},
	{"the hook program", []string{"./cmd/stopgate-hook"}, 0},
	{"the public package policy", []string{"./policy"}, 0},
}

func main() {
	log.SetFlags(0)
	all, err := list("./...")
	if err != nil {
		log.Fatal(err)
	}
	var product []*module
	for _, p := range all {
		if strings.Contains(p.ImportPath, "/testkit") {
			continue
		}
		m, err := read(p)
		if err != nil {
			log.Fatal(err)
		}
		product = append(product, m)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	if err := report(w, product); err != nil {
		log.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}

func report(w io.Writer, product []*module) error {
	code, public, names := 0, 0, 0
	for _, m := range product {
		code += m.code
		if m.public() {
			public++
			names += m.exported
		}
	}
	fmt.Fprintf(w, "lines of code\t%d\tbudget 95000\n", code)
	fmt.Fprintf(w, "public packages\t%d\tbudget 16\n", public)
	fmt.Fprintf(w, "exported identifiers\t%d\tbudget 600\n", names)
	for _, c := range closures {
		linked, err := list(append([]string{"-deps"}, c.of...)...)
		if err != nil {
			return err
		}
		lines, packages := 0, 0
		for _, p := range linked {
			for _, m := range product {
				if m.path == p.ImportPath {
					lines += m.code
					packages++
				}
			}
		}
		budget := ""
		if c.budget > 0 {
			budget = fmt.Sprintf("budget %d", c.budget)
		}
		fmt.Fprintf(w, "lines that %s links\t%d in %d packages\t%s\n", c.name, lines, packages, budget)
	}
	slices.SortFunc(product, func(a, b *module) int { return b.lines - a.lines })
	for _, m := range product {
		if m.lines > 2_500 {
			fmt.Fprintf(w, "lines of %s\t%d\tbudget 2500\n", short(m.path), m.lines)
		}
	}
	var types []typ
	words := map[string]int{}
	total := 0
	for _, m := range product {
		for name, methods := range m.methods {
			if methods > 40 {
				types = append(types, typ{short(m.path) + "." + name, methods})
			}
		}
		for word, n := range m.words {
			words[word] += n
			total += n
		}
	}
	slices.SortFunc(types, func(a, b typ) int { return b.methods - a.methods })
	for _, t := range types {
		fmt.Fprintf(w, "methods of %s\t%d\tbudget 40\n", t.name, t.methods)
	}
	for _, r := range reference {
		fmt.Fprintf(w, "%q in 100,000 words of comments\t%d\tothers %d\n", r.word, words[r.word]*100_000/max(total, 1), r.count)
	}
	return nil
}

type typ struct {
	name    string
	methods int
}

const modulePath = "github.com/stopgate/stopgate"

func short(path string) string {
	if path == modulePath {
		return "."
	}
	return strings.TrimPrefix(path, modulePath+"/")
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	IgnoredGoFiles        []string
}

func list(args ...string) (packages []listed, err error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Name,GoFiles,IgnoredGoFiles"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(args, " "), err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}
