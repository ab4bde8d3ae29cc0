package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Simple reports whether a text is one simple command of unquoted literal words without
// redirections.
func Simple(text []byte) bool {
	var l Line
	if !l.strict(text, parent{index: -1}) || len(l.Commands) != 1 || len(l.Commands[0].Redirects) > 0 {
		return false
	}
	fields := bytes.Fields(text) // more words than the command's if something precedes them
	for i, w := range l.Commands[0].Words {
		if w.Quoted || !w.Literal || i >= len(fields) || !bytes.Equal(w.Text, fields[i]) {
			return false
		}
	}
	return !bytes.ContainsAny(text, ";&<>")
}

// commandWord reports whether a word can only be the name of a program.
func commandWord(w Word) bool {
	if len(w.Text) == 0 || w.Text[0] == '%' || IsAssignment(w.Text) || Reserved(w.Text) {
		return false
	}
	for _, b := range w.Text {
		if b <= ' ' || b >= 0x7f {
			return false
		}
	}
	return true
}

// IsAssignment reports whether a word is NAME=... or NAME+=...
func IsAssignment(word []byte) bool {
	i := 0
	for i < len(word) && (IsLetter(word[i]) || i > 0 && word[i] >= '0' && word[i] <= '9') {
		i++
	}
	if i > 0 && i < len(word) && word[i] == '[' { // of an element
		return true
	}
	if i > 0 && i < len(word) && word[i] == '+' {
		i++
		return i < len(word) && word[i] == '='
	}
	return i > 0 && i < len(word) && word[i] == '='
}

// Reserved reports whether a word does not name the command that follows it.
func Reserved(word []byte) bool { return reserved.Has(string(word)) }

var reserved = programs.Words{
	"!", "[[", "]]", "{}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "foreach", "function", "if", "in", "repeat", "select", "then",
	"until", "while", "{", "}", "end", "endif", "endsw", "noglob", "nocorrect",
}

func IsNumber(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

func IsLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
