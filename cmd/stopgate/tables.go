package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/agent/provider"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
)

// settingsReader collects the mistakes of a table, each with its place.
type settingsReader struct {
	table *tomltree.Value // nil where the file has none
	diags diag.List
}

func readTable(table *tomltree.Value, into any) *settingsReader {
	return &settingsReader{table, tomltree.Decode(table, into)}
}

// reject reports a key's value if err is not nil.
func (r *settingsReader) reject(key string, err error) {
	if e := r.table.Get(key); e != nil && err != nil {
		r.diags.Add(diag.Diagnostic{Code: diag.BadValue, File: e.Value.File(), Range: e.Value.Range, Message: err.Error()})
	}
}

// oneOf rejects a word that is none of some; "" is the default.
func (r *settingsReader) oneOf(key, word string, words ...string) {
	if word != "" && !slices.Contains(words, word) {
		r.reject(key, fmt.Errorf("want %s, not %q", oneOf(words), word))
	}
}

// count rejects a number below zero.
func (r *settingsReader) count(key string, n *int64, meaning string) {
	if n != nil && *n < 0 {
		r.reject(key, errors.New(meaning))
	}
}

// hookConfig reads the table [hook].
func hookConfig(table *tomltree.Value) (hookTable, diag.List) {
	var t hookTable
	r := readTable(table, &t)
	r.oneOf("unattended", t.Unattended, "silent", "allow")
	return t, r.diags
}

// agentConfig reads the table [agent].
func agentConfig(table *tomltree.Value) (agentTable, diag.List) {
	var t agentTable
	r := readTable(table, &t)
	r.oneOf("api", t.API, provider.APIs()...)
	r.oneOf("style", t.Style, "call", "json")
	return t, r.diags
}

// auditConfig reads the table [audit].
func auditConfig(table *tomltree.Value) (auditTable, diag.List) {
	var t auditTable
	r := readTable(table, &t)
	var keep audit.Keep
	if t.Arguments != "" {
		r.reject("arguments", keep.UnmarshalText([]byte(t.Arguments)))
	}
	_, err := audit.NewRedactor(t.Redact, nil)
	r.reject("redact", err)
	_, err = audit.NewRedactor(nil, t.RedactPatterns)
	r.reject("redact_patterns", err)
	r.count("rows_days", t.RowsDays, "a number of days; 0 keeps everything")
	r.count("arguments_days", t.ArgumentsDays, "a number of days; 0 keeps everything")
	r.count("rotate_bytes", t.RotateBytes, "a number of bytes; 0 never rotates")
	r.count("rotate_days", &t.RotateDays, "a number of days; 0 never rotates")
	return t, r.diags
}

// storeConfig reads the table [store].
func storeConfig(table *tomltree.Value) (storeTable, diag.List) {
	var t storeTable
	r := readTable(table, &t)
	_, err := storePath(t.URL)
	r.reject("url", err)
	return t, r.diags
}
