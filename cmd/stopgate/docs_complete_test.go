package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
)

const reference = "../../docs/reference/"

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(reference + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mentions checks that a page shows every word as code.
func mentions(t *testing.T, name string, words []string) {
	t.Helper()
	text := page(t, name)
	if len(words) == 0 {
		t.Fatalf("%s: nothing to look for", name)
	}
	for _, w := range words {
		if !regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(w) + "\\b[^`\n]*`|(?m)^\\[?" + regexp.QuoteMeta(w) + "\\b").MatchString(text) {
			t.Errorf("%s does not say what %s is", name, w)
		}
	}
}

// tags reads the names that struct tags of a source file give to settings.
func tags(t *testing.T, file, key string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../"+file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	ast.Inspect(f, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			raw, _ := strconv.Unquote(field.Tag.Value)
			word, _, _ := strings.Cut(reflect.StructTag(raw).Get(key), ",")
			words = append(words, word)
		}
		return true
	})
	return words
}

// TestDocumentationIsComplete finds flags and settings that no page explains.
func TestDocumentationIsComplete(t *testing.T) {
	var flags []string
	var collect func(cmd *cobra.Command)
	collect = func(cmd *cobra.Command) {
		flags = append(flags, cmd.Name())
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				flags = append(flags, "--"+f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			collect(sub)
		}
	}
	for _, cmd := range commands.New(cli.Streams{}).Commands() {
		if cmd.Name() != "completion" {
			collect(cmd)
		}
	}
	text := page(t, "cli.md")
	for _, f := range flags {
		if !strings.Contains(text, f) {
			t.Errorf("cli.md does not say what %s is", f)
		}
	}

	mentions(t, "config.md", tags(t, "internal/gateway/configure/configure.go", "toml"))
	mentions(t, "config.md", tags(t, "internal/config/place/tables.go", "toml"))
	mentions(t, "config.md", tags(t, "internal/cli/tables/api.go", "toml"))
	mentions(t, "config.md", tags(t, "internal/cli/tables/telemetry.go", "toml"))
	mentions(t, "config.md", tags(t, "internal/gateway/configure/access.go", "toml"))
	mentions(t, "config.md", tags(t, "internal/gateway/configure/upstreams.go", "toml"))
	mentions(t, "config.md", []string{"unattended"})
}

// TestReasonCodes compares the table of codes with the source; -update writes it
// anew.
func TestReasonCodes(t *testing.T) {
	var codes strings.Builder
	codes.WriteString("| code | what a model is told |\n|---|---|\n")
	for _, c := range reasonCodes(t) {
		fmt.Fprintf(&codes, "| `%s` | %s |\n", c, c.Public())
	}
	generated(t, "codes.md", "codes", codes.String())
}

// reasonCodes lists the constants of type Code, in their order.
func reasonCodes(t *testing.T) []stopgate.Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []stopgate.Code
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, stopgate.Code(code))
		return true
	})
	return codes
}

// generated compares the part of a page between two markers.
func generated(t *testing.T, name, part, want string) {
	t.Helper()
	text := page(t, name)
	begin, end := "<!-- "+part+": generated -->\n", "<!-- "+part+": end -->"
	before, rest, ok := strings.Cut(text, begin)
	got, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part %q", name, part)
	}
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("%s: the table %q is out of date; run the test with -update", name, part)
	}
	if err := os.WriteFile(reference+name, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
