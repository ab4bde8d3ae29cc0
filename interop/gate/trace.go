package gate

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of audit rows anew")

// fleeting are the members of a row that differ from run to run, or that a hash of
// something that is no behaviour makes different.
var fleeting = []string{"seq", "chain", "time", "id", "parent", "prev", "hash", "policy", "definition", "session", "turn", "call_id", "facts_at", "context"}

// Trace compares, when the test ends, the decision rows that the gate has written with
// testdata/rows_NAME.txt: every different row once, without ids, times and the position of
// facts, in the order of their text. How far a call came whose provider broke off is a
// matter of time, and its row is left out. A run of only some tests is not compared.
func (g *Gate) Trace(name string) { g.trace = name }

func (g *Gate) compare(t testing.TB) {
	t.Helper()
	if g.trace == "" || t.Failed() || flag.Lookup("test.run").Value.String() != "" && !*update {
		return
	}
	text, err := os.ReadFile(g.audit)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range bytes.Lines(text) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		for _, name := range fleeting {
			delete(row, name)
		}
		if a, ok := row["approval"].(map[string]any); ok {
			delete(a, "id")
		}
		if r, ok := row["rule"].(map[string]any); ok {
			r["file"] = filepath.Base(fmt.Sprint(r["file"]))
		}
		short, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if row["kind"] == "decision" && row["code"] != "upstream_error" {
			rows[string(short)] = true
		}
	}
	got := strings.Join(slices.Sorted(maps.Keys(rows)), "\n") + "\n"
	golden := filepath.Join("testdata", "rows_"+g.trace+".txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	before := strings.Split(string(want), "\n")
	for line := range strings.Lines(got) {
		if !slices.Contains(before, strings.TrimSuffix(line, "\n")) {
			t.Errorf("a row that %s does not have: %s", golden, line)
		}
	}
	for _, line := range before {
		if line != "" && !rows[line] {
			t.Errorf("%s has a row that was not written: %s", golden, line)
		}
	}
	t.Log("where that is meant: go test ./sdk -update")
}
