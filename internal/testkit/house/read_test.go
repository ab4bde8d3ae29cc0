package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Blank lines and comments are no code, a raw string is as many lines as it has, and a line
// that two tokens share is one.
func TestFile(t *testing.T) {
	m := &module{methods: map[string]int{}, words: map[string]int{}}
	err := m.file("x.go", []byte(`// Package x is nothing.
package x

/* a comment
of two lines */
const A, b = 1, 2 // nothing

type T[K any] struct{ /* odd */ }

var s = `+"`one\n\nthree`"+`; var C = 1

func (t *T[K]) M() {}
func (t T[K]) n()  {}
func F() {
	println(s)
}
`))
	if err != nil {
		t.Fatal(err)
	}
	if m.code != 11 || m.lines != 18 || m.exported != 4 {
		t.Errorf("%d lines of code of %d, %d exported", m.code, m.lines, m.exported)
	}
	if d := cmp.Diff(map[string]int{"T": 2}, m.methods); d != "" {
		t.Error(d)
	}
	if m.words["nothing"] != 2 || m.words["odd"] != 1 || m.words["println"] != 0 {
		t.Error(m.words)
	}
}
