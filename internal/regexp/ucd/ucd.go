// Package ucd holds facts of the Unicode Character Database, version 16.0.0: the code
// points of the properties that ECMA-262 patterns can name, and simple case folding.
// The Unicode version of the standard library depends on the compiler; a policy means the
// same with every one.
//
// properties.txt and folding.go are written by generate.mjs, which names its source.
package ucd

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// properties has a line for each property: its name and its ranges, as generate.mjs
// explains.
//
//go:embed properties.txt
var properties string

// Property returns the ranges of code points, both ends included and in order, that have
// a property, and whether there is one of the name: a binary property by its long name, or
// "gc=", "sc=" or "scx=" with the long name of a general category that is not made of
// others, or of a script. A script without a line for "scx=" has the code points of "sc=".
func Property(name string) (ranges iter.Seq2[rune, rune], ok bool) {
	for line := range strings.Lines(properties) {
		if rest, found := strings.CutPrefix(line, name); found && rest[0] == ' ' {
			return parse(rest), true
		}
	}
	return nil, false
}

func parse(text string) iter.Seq2[rune, rune] {
	return func(yield func(rune, rune) bool) {
		next := rune(0)
		for word := range strings.FieldsSeq(text) {
			gap, more, _ := strings.Cut(word, "+")
			low := next + number(gap)
			high := low + number(more)
			if !yield(low, high) {
				return
			}
			next = high + 1
		}
	}
}

// number reads a number of the generated table; no text is 0.
func number(text string) rune {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 16, 21)
	if err != nil {
		panic("ucd: properties.txt is damaged: " + err.Error()) // a test reads every line
	}
	return rune(n)
}

// Fold returns the next code point that differs from r in case only, by simple case
// folding (CaseFolding.txt, statuses C and S), and r itself where there is none. Called
// again with its results it comes back to r.
func Fold(r rune) rune {
	i, found := slices.BinarySearchFunc(orbits[:], r, func(o [2]rune, r rune) int { return int(o[0] - r) })
	if !found {
		return r
	}
	return orbits[i][1]
}

// Folding returns every code point that differs from another in case only, in order.
func Folding() iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for _, o := range orbits {
			if !yield(o[0]) {
				return
			}
		}
	}
}
