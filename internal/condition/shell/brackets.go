package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// "[[ -f go.mod ]]" is read as a command with these words. Shells that do not have it find no such
// program, so only expressions without operators of the shell are read: "[[ a && b ]]" runs b there.

// testing are the programs that evaluate an expression.
var testing = programs.Words{"test", "[", "[["}

// opensTest reports whether a [[ begins here.
func (r *strictReader) opensTest() bool {
	return !r.inCommand() && (!r.prefixed || r.negated) && !r.looped && bytes.HasPrefix(r.text[r.pos:], []byte("[[ "))
}

// inBrackets reports whether the current command is a complete [[ ... ]].
func (r *strictReader) inBrackets() bool {
	l := r.line
	return len(l.words) > r.words && string(l.words[r.words].Text) == "[[" && !l.words[r.words].Quoted
}

// test reads "[[ EXPRESSION ]]".
func (r *strictReader) test() bool {
	l := r.line
	l.words = append(l.words, Word{Text: []byte("[["), Literal: true})
	r.pos += len("[[")
	for {
		r.skip(" ")
		rest, closed := bytes.CutPrefix(r.text[r.pos:], []byte("]]"))
		if closed && (len(rest) == 0 || ends(rest[0])) {
			l.words = append(l.words, Word{Text: []byte("]]"), Literal: true})
			r.pos += len("]]")
			return tests(l.words[r.words+1 : len(l.words)-1])
		}
		if r.compared() {
			continue
		}
		if r.pos == len(r.text) || ends(r.text[r.pos]) {
			return false
		}
		w, ok := r.word()
		switch before := l.words[len(l.words)-1]; {
		case !ok || w.Tilde || len(w.Text) == 0 && !w.Quoted:
			return false
		case r.computed:
			r.computed = false
		case w.Glob && equals.Has(string(before.Text)) && !before.Quoted: // a pattern
			w = Word{Text: w.Text, Literal: true, Quoted: true}
		case !w.Literal:
			return false
		}
		l.words = append(l.words, w)
	}
}

// equals are operators that compare texts; "==" is one in [[ only.
var equals = programs.Words{"=", "!=", "=="}

// compared reads an operator that compares texts.
func (r *strictReader) compared() bool {
	l := r.line
	if len(l.words) < r.words+2 || !testing.Has(string(l.words[r.words].Text)) {
		return false
	}
	for _, operator := range equals {
		rest, ok := bytes.CutPrefix(r.text[r.pos:], []byte(operator))
		if ok && len(rest) > 0 && rest[0] == ' ' && (operator != "==" || string(l.words[r.words].Text) == "[[") {
			l.words = append(l.words, Word{Text: []byte(operator), Literal: true})
			r.pos += len(operator)
			return true
		}
	}
	return false
}

// tests reports whether the words of an expression ask for a file, compare texts or compare numbers.
func tests(words []Word) bool {
	if len(words) > 0 && string(words[0].Text) == "!" && !words[0].Quoted {
		words = words[1:]
	}
	number := func(w Word) bool { return IsNumber(w.Text) || string(w.Text) == "$?" }
	switch len(words) {
	case 1:
		return words[0].Text == nil || words[0].Quoted || words[0].Text[0] != '-'
	case 2:
		return asksFile(words[0])
	case 3:
		operator := words[1]
		return operator.Literal && !operator.Quoted && (equals.Has(string(operator.Text)) ||
			(programs.Words{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}).Has(string(operator.Text)) && number(words[0]) && number(words[2]))
	}
	return false
}

// keepsTexts reports whether a command with unknown texts in its words only prints them or compares
// them with other texts: some shells evaluate code in the numbers that they compare.
func (r *strictReader) keepsTexts(words []Word) bool {
	switch program := string(words[0].Text); program {
	case "echo":
		return true
	case "printf":
		return len(words) > 1 && words[1].Literal && onlyTexts(words[1].Text)
	case "test":
		words = words[1:]
	default:
		words = words[1 : len(words)-1]
	}
	if len(words) > 0 && string(words[0].Text) == "!" {
		words = words[1:]
	}
	switch len(words) {
	case 1:
		return true
	case 2:
		return string(words[0].Text) == "-n" || string(words[0].Text) == "-z"
	}
	return len(words) == 3 && !r.foreign && words[1].Literal && equals.Has(string(words[1].Text))
}

// onlyTexts reports whether a format of printf has no conversions of numbers.
func onlyTexts(format []byte) bool {
	for {
		_, rest, found := bytes.Cut(format, []byte("%"))
		if !found {
			return true
		}
		rest = bytes.TrimLeft(rest, "-.0123456789")
		if len(rest) == 0 || rest[0] != 's' && rest[0] != 'q' && rest[0] != '%' {
			return false
		}
		format = rest[1:]
	}
}

// separates reports whether a word is an assignment to IFS for the program read alone.
func (r *strictReader) separates(w Word) bool {
	return w.Literal && bytes.HasPrefix(w.Text, []byte("IFS=")) && bytes.HasPrefix(r.text[r.pos:], []byte(" read "))
}
