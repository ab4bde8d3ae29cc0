package programs

import (
	"bytes"
)

// Anywhere means every position after the program's name.
const Anywhere = "*"

// RunsAfter reports whether the program may run the words that follow one of its words.
func RunsAfter(program, word []byte) bool {
	return Listed(Of(string(Familiar(Base(program)))).After, string(word))
}

// TakesCode reports whether a program has an option that runs code. Unknown words of it may contain
// code.
func TakesCode(program []byte) bool { return Known(string(Familiar(Base(program)))) }

// Familiar returns the name of a program in the tables: in lower case, without .exe, and without
// the version or the prefix g that some systems add.
func Familiar(program []byte) []byte {
	if hasUpper(program) {
		program = bytes.ToLower(program)
	}
	if !OddName(program) {
		return program
	}
	program = bytes.TrimSuffix(program, exe)
	stem := bytes.TrimRight(program, "0123456789.-")
	switch {
	case Known(string(program)):
	case Known(string(stem)):
		return stem
	case len(program) > 1 && program[0] == 'g' && gnu.Has(string(program[1:])):
		return program[1:]
	}
	return program
}

var exe = []byte(".exe")

// OddName reports whether a name may be known without its suffix or prefix.
func OddName(name []byte) bool {
	if len(name) < 2 {
		return false
	}
	last := name[len(name)-1]
	return last >= '0' && last <= '9' || last|0x20 == 'e' && len(name) > len(exe) && bytes.EqualFold(name[len(name)-len(exe):], exe) ||
		name[0] == 'g' && gnu.Has(string(name[1:])) || hasUpper(name)
}

// hasUpper reports whether a name has upper case letters: case-insensitive file systems find rm as
// RM.
func hasUpper(name []byte) bool {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}

// Base returns the last component of a program's path.
func Base(word []byte) []byte {
	at := len(word)
	for at > 0 && word[at-1] != '/' && word[at-1] != '\\' {
		at--
	}
	return word[at:]
}
