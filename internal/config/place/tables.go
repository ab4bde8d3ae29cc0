package place

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// auditTable is the table [audit].
type auditTable struct {
	File           string   `toml:"file"`
	Arguments      string   `toml:"arguments"`
	Redact         []string `toml:"redact"`
	RedactPatterns []string `toml:"redact_patterns"`
	RowsDays       *int64   `toml:"rows_days"`
	ArgumentsDays  *int64   `toml:"arguments_days"`
	RotateBytes    *int64   `toml:"rotate_bytes"`
	RotateDays     int64    `toml:"rotate_days"`
}

// storeTable is the table [store].
type storeTable struct {
	URL  string `toml:"url"`
	Gate string `toml:"gate"`
}

// Check finds the mistakes in the tables [audit] and [store].
func Check(tables map[string]*tomltree.Value) diag.List {
	_, mistakes := auditConfig(tables["audit"])
	_, more := storeConfig(tables["store"], config.Account{})
	return append(mistakes, more...)
}

// auditConfig reads the table [audit].
func auditConfig(table *tomltree.Value) (auditTable, diag.List) {
	var t auditTable
	r := tomltree.Read(table, &t)
	var keep audit.Keep
	if t.Arguments != "" {
		r.Reject("arguments", keep.UnmarshalText([]byte(t.Arguments)))
	}
	_, err := audit.NewRedactor(t.Redact, nil)
	r.Reject("redact", err)
	_, err = audit.NewRedactor(nil, t.RedactPatterns)
	r.Reject("redact_patterns", err)
	r.Count("rows_days", t.RowsDays, "a number of days; 0 keeps everything")
	r.Count("arguments_days", t.ArgumentsDays, "a number of days; 0 keeps everything")
	r.Count("rotate_bytes", t.RotateBytes, "a number of bytes; 0 never rotates")
	r.Count("rotate_days", &t.RotateDays, "a number of days; 0 never rotates")
	return t, r.Mistakes
}

// storeConfig reads the table [store].
func storeConfig(table *tomltree.Value, a config.Account) (storeTable, diag.List) {
	var t storeTable
	r := tomltree.Read(table, &t)
	_, err := StorePathOf(t.URL, a)
	r.Reject("url", err)
	if t.Gate != "" {
		r.Reject("gate", checkGate(t.Gate))
	}
	return t, r.Mistakes
}

// maxGate bounds the name of a gate, in bytes.
const maxGate = 200

// checkGate returns the mistake in the name of a gate.
func checkGate(name string) error {
	if name == "" || len(name) > maxGate || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return &URLError{"the name of a gate has 1 to 200 bytes without spaces and control characters"}
	}
	return nil
}

// Redacted are the pointers of the values that [audit] hides.
func Redacted(table *tomltree.Value) ([]string, diag.List) {
	var t auditTable
	mistakes := tomltree.Decode(table, &t)
	return t.Redact, mistakes
}
