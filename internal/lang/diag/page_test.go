package diag_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

var update = flag.Bool("update", false, "write the page of the catalogue")

// The reference page is generated from the catalogue.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Diagnostics

Every finding of ` + "`stopgate check`" + ` has a code. A code never changes its meaning and is never used again for another one. An error refuses the file; a warning
and a note do not. "strict" marks the warnings that ` + "`check --strict` and `[gate] strict = true`" + ` turn into errors. In JSON a finding is
` + "`{\"code\",\"name\",\"severity\",\"file\",\"line\",\"column\",\"end_line\",\"end_column\",\"message\",\"hint\",\"related\":[...]}`" + `; lines and columns count from 1, columns in
code points, and 0 means that the place is not known.

| code | name | severity | meaning |
|---|---|---|---|
`)
	for _, e := range diag.Catalogue() {
		severity := e.Severity.String()
		if e.Strict {
			severity += ", strict"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.Code, e.Name, severity, strings.ReplaceAll(e.Summary(), "*", `\*`))
	}
	const name = "../../../docs/reference/diagnostics.md"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(page)); diff != "" {
		t.Errorf("run the test with -update: %s", diff)
	}
}
