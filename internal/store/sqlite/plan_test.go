package sqlite_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scans are the statements that read a whole table: lists for people, and pruning. No call waits
// for them.
var scans = []string{
	"SELECT id FROM audit_chain",
	"SELECT seq, stored FROM audit_rows e INDEXED BY", // events that belong to a call
	"SELECT id, members FROM audit_classes",
	"SELECT count(*) FROM audit_classes",
	"SELECT newest, behind, old, converted", // of the only row
	"SELECT c.newest, c.behind, c.epoch",
	"SELECT max(old - max(converted",
	"UPDATE audit_chain",
	"SELECT hash, time, redacted, text FROM audit_arguments ORDER BY hash LIMIT",
	"SELECT r.seq, r.time, r.id, c.members", // numbers in a list
	"SELECT r.seq, r.stored FROM json_each",
	"DELETE FROM audit_classes WHERE NOT EXISTS", // after rows were pruned
	"SELECT since, author, reason FROM lockdown",
	"SELECT until FROM attendance",
	"SELECT body FROM approvals WHERE (?1",
	"SELECT body FROM grants WHERE (?1",
	"SELECT body FROM conversations WHERE ?1",
	"SELECT p.name, s.name, s.facts",
	"SELECT id, last FROM sessions WHERE principal > 0 AND first < ?",
	"DELETE FROM approvals WHERE expires",
	"DELETE FROM grants WHERE expires",
	"DELETE FROM conversations WHERE changed",
	"DELETE FROM conversation_entries WHERE conversation IN (SELECT number FROM conversations WHERE changed",
	"DELETE FROM ledger WHERE at",
	"SELECT t.id FROM texts t WHERE t.at",
	"DELETE FROM objections WHERE time",
	"DELETE FROM lockdown",
	"DELETE FROM gates WHERE seen", // a row for each gate
	"SELECT body FROM gates ORDER BY name",
}

// sorts are the statements whose order is in no index.
var sorts = []string{
	"SELECT body FROM conversations WHERE ?1",
	"SELECT p.name FROM sessions p",
	"SELECT p.name, s.name, s.facts",
	"SELECT id, last FROM sessions WHERE principal > 0 AND first < ?",
	"SELECT seq, stored FROM audit_rows e INDEXED BY", // of events that belong to a call
	"SELECT seq, stored FROM (SELECT seq, stored FROM audit_rows WHERE final",
	"SELECT r.seq FROM audit_rows a INDEXED BY", // rows of calls that were asked about
	"SELECT r.seq, r.time, r.id, c.members",
	"SELECT r.seq, r.stored FROM json_each",
	"SELECT body FROM approvals WHERE expires < ? AND id > ?",
}

var scan = regexp.MustCompile(`SCAN (\w+)( USING.*)?$`)

// Proves S38, K0d: every statement of the store and of its records uses an index to filter, and
// every index is used by one of them: each process that opens the file reads all indexes.
func TestPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	open(t, path)
	db := raw(t, path)
	var unused []string
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		unused = append(unused, name)
	}
	rows.Close()
	begins := func(list []string, query string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(query, s) })
	}
	queries := slices.Concat(statements(t, "."), statements(t, "../../record/sqlite"))
	if len(queries) < 40 {
		t.Fatalf("only %d statements were found", len(queries))
	}
	for _, query := range queries {
		rows, err := db.Query("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		for rows.Next() {
			var id, parent, none int
			var step string
			if err := rows.Scan(&id, &parent, &none, &step); err != nil {
				t.Fatal(err)
			}
			unused = slices.DeleteFunc(unused, func(name string) bool { return strings.Contains(step, name) })
			if scan.MatchString(step) && !strings.Contains(step, "CONSTANT") && !begins(scans, query) && !bounded(query) {
				t.Errorf("%s: %s", query, step)
			}
			if strings.Contains(step, "TEMP B-TREE") && !begins(sorts, query) {
				t.Errorf("%s: %s", query, step)
			}
		}
		rows.Close()
	}
	// A unique index is there for its constraint.
	if unused = slices.DeleteFunc(unused, func(name string) bool { return name == "audit_decisions" }); len(unused) > 0 {
		t.Errorf("no statement uses %q", unused)
	}
}

// bounded reports whether a statement reads rows in the order of their numbers and ends early, or
// reads only the first or last of them.
func bounded(query string) bool {
	return strings.Contains(query, "ORDER BY seq") && strings.Contains(query, "LIMIT") || strings.Contains(query, "max(seq)")
}

// statements finds the SQL statements in the Go files of a directory. It leaves out statements that
// are built at run time, and replaces conditions from elsewhere.
func statements(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			query, ok := textOf(e)
			whole := strings.HasPrefix(query, "SELECT ") || strings.HasPrefix(query, "UPDATE ") || strings.HasPrefix(query, "DELETE ") ||
				strings.HasPrefix(query, "INSERT ") && strings.Contains(query, "VALUES")
			if ok && whole {
				list = append(list, query)
			}
			return !ok
		})
	}
	return list
}

// textOf returns the text of a literal, or of a sum of literals.
func textOf(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := textOf(e.X)
		if !ok || e.Op != token.ADD {
			return "", false
		}
		switch right := e.Y.(type) {
		case *ast.Ident:
			return left + "TRUE", true
		case *ast.CallExpr: // more of the same
			return left, true
		default:
			more, ok := textOf(right)
			return left + more, ok
		}
	}
	return "", false
}
