package manual_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/manual"
)

// reasonCodes returns the constants of type Code in the root package.
func reasonCodes(t *testing.T) (codes []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../../errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" {
			code, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			codes = append(codes, code)
		}
		return true
	})
	return codes
}

// Every diagnostic and every reason code has a text with a remedy.
func TestEveryCodeHasAText(t *testing.T) {
	for _, e := range diag.Catalogue() {
		text, ok := manual.Of(string(e.Code))
		if !ok || len(text) < 60 || !strings.Contains(text, "\nTo mend it: ") {
			t.Errorf("%s %s has no text that says how to mend it: write it in diagnostics.txt", e.Code, e.Name)
		}
	}
	codes := reasonCodes(t)
	if len(codes) < 60 {
		t.Fatalf("%d reason codes were found", len(codes))
	}
	for _, code := range codes {
		text, ok := manual.Of(code)
		if !ok || len(text) < 60 || !strings.Contains(text, "\nWhat to do: ") {
			t.Errorf("%s has no text that says what to do: write it in codes.txt", code)
		}
	}
	for _, code := range manual.Codes() {
		if !slices.Contains(codes, code) {
			t.Errorf("%s is no reason code", code)
		}
	}
}

func TestNoText(t *testing.T) {
	for _, code := range []string{"", "SG9999", "no_such_code", "What to do"} {
		if text, ok := manual.Of(code); ok {
			t.Errorf("%q has the text %q", code, text)
		}
	}
}
