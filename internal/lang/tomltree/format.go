package tomltree

import (
	"strings"
	"unicode/utf8"
)

// lineWidth is how long a line may get before an array is broken into one element
// per line.
const lineWidth = 100

// StatementKind tells the lines of a document apart.
type StatementKind uint8

// The kinds of statements.
const (
	Comment StatementKind = iota // a comment with a line of its own
	Pair                         // a key and its value
	Header                       // [a.b]
	Headers                      // [[a.b]]
)

// Statement is one line of a document outside of values, or one pair of an inline
// table, in file order. Whoever formats a document may change Keys, the order of
// the pairs of an inline table, and OwnLines of arrays before Format.
type Statement struct {
	Kind  StatementKind
	Keys  []string // as written, relative to the header above a pair
	Value *Value   // of a pair
	Text  string   // the comment, or the one behind the line; of a pair in braces "", see Value

	gap bool // a blank line stands before it
}

// Format writes the document in the one canonical layout: nothing is moved and no
// comment is lost, only white space, quotes and line breaks inside of values
// change. Formatting the result again changes nothing.
//
//   - One blank line stands before a header and the comments above it; elsewhere one
//     stands where the author left any.
//   - An array is on one line if it fits, else it has one element per line. Inline
//     tables are on one line, whose arrays are broken if it is too long, unless
//     comments stand in them.
//   - Comments behind consecutive lines are aligned, except behind headers.
func (d *Document) Format() []byte {
	w := &writer{}
	for i, s := range d.Statements {
		if len(w.lines) > 0 && (d.leads(i) || s.gap && !d.opens(i)) {
			w.line("", "")
		}
		switch s.Kind {
		case Comment:
			w.line(s.Text, "")
		case Header:
			w.line(strings.TrimRight("["+Path(s.Keys)+"] "+s.Text, " "), "")
		case Headers:
			w.line(strings.TrimRight("[["+Path(s.Keys)+"]] "+s.Text, " "), "")
		case Pair:
			w.text.WriteString(Path(s.Keys) + " = ")
			w.value(s.Value, 0, 0)
			w.line("", s.Text)
		}
	}
	return w.bytes()
}

// leads reports whether a header stands in this statement or right below the
// comments that begin with it.
func (d *Document) leads(i int) bool {
	if i > 0 && d.Statements[i-1].Kind == Comment && !d.Statements[i].gap {
		return false // the comments above were separated already, or belong to no header
	}
	for ; i < len(d.Statements); i++ {
		if s := d.Statements[i]; s.Kind != Comment {
			return s.Kind != Pair
		}
		if i+1 < len(d.Statements) && d.Statements[i+1].gap {
			return false
		}
	}
	return false
}

// opens reports whether a statement is the first one below a header.
func (d *Document) opens(i int) bool {
	return i > 0 && (d.Statements[i-1].Kind == Header || d.Statements[i-1].Kind == Headers)
}

// writer collects lines; what is written of the current one is in text.
type writer struct {
	lines []line
	text  strings.Builder
}

type line struct{ text, comment string }

func (w *writer) line(text, comment string) {
	w.lines = append(w.lines, line{w.text.String() + text, comment})
	w.text.Reset()
}

// bytes joins the lines and aligns the comments behind consecutive ones.
func (w *writer) bytes() []byte {
	var out []byte
	for i := 0; i < len(w.lines); {
		end, column := i, 0
		for ; end < len(w.lines) && w.lines[end].comment != ""; end++ {
			column = max(column, width(w.lines[end].text))
		}
		for ; i < end; i++ {
			l := w.lines[i]
			out = append(out, l.text...)
			out = append(out, strings.Repeat(" ", column-width(l.text)+1)...)
			out = append(append(out, l.comment...), '\n')
		}
		if i < len(w.lines) {
			out = append(append(out, w.lines[i].text...), '\n')
			i++
		}
	}
	return out
}

// width is the length of the last line of a text in characters.
func width(text string) int {
	return utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])
}

// value writes a value behind the text of the current line; after is how much
// stands behind it in its line, at least.
func (w *writer) value(v *Value, depth, after int) {
	if text, ok := oneLine(v); ok && (v.Kind != Array && v.Kind != Table || width(w.text.String())+utf8.RuneCountInString(text)+after <= lineWidth) {
		w.text.WriteString(text)
		return
	}
	w.split(v, depth)
}

// split writes an array or inline table that has to have several lines.
func (w *writer) split(v *Value, depth int) {
	switch {
	case v.Kind == Array:
		w.broken(v, depth, "[", "]")
	case commented(v):
		w.broken(v, depth, "{", "}")
	default:
		w.row(v, depth)
	}
}

// row writes an inline table that is too long for a line, or that holds an array
// with comments: its arrays are broken, it stays together.
func (w *writer) row(v *Value, depth int) {
	w.text.WriteString("{ ")
	for i, s := range v.Pairs {
		if i > 0 {
			w.text.WriteString(", ")
		}
		w.text.WriteString(Path(s.Keys) + " = ")
		text, ok := oneLine(s.Value)
		if !ok || len(s.Value.Elements) > 1 && (inner(s.Value) || len(text) > lineWidth/2) {
			w.split(s.Value, depth)
			continue
		}
		w.text.WriteString(text)
	}
	w.text.WriteString(" }")
}

// inner reports whether an array holds tables or arrays.
func inner(v *Value) bool {
	for _, e := range v.Elements {
		if e.Kind == Table || e.Kind == Array {
			return true
		}
	}
	return false
}

// broken writes an element per line.
func (w *writer) broken(v *Value, depth int, open, end string) {
	indent := strings.Repeat("  ", depth+1)
	w.line(open, "")
	element := func(e *Value, key string) {
		w.comments(indent, e.Comments)
		w.text.WriteString(indent + key)
		w.value(e, depth+1, len(","))
		w.line(",", e.Trailing)
	}
	for _, s := range v.Pairs {
		element(s.Value, Path(s.Keys)+" = ")
	}
	for _, e := range v.Elements {
		element(e, "")
	}
	w.comments(indent, v.Inner)
	w.text.WriteString(strings.Repeat("  ", depth) + end)
}

// comments writes comments with a line of their own; "" among them is a blank one.
func (w *writer) comments(indent string, comments []string) {
	for _, c := range comments {
		if c != "" {
			c = indent + c
		}
		w.line(c, "")
	}
}

// commented reports whether comments stand directly in a table.
func commented(v *Value) bool {
	for _, s := range v.Pairs {
		if len(s.Value.Comments) > 0 || s.Value.Trailing != "" {
			return true
		}
	}
	return len(v.Inner) > 0
}

// oneLine writes a value on one line; ok is false if it has to have several.
func oneLine(v *Value) (text string, ok bool) {
	if len(v.Inner) > 0 || v.OwnLines && len(v.Elements) > 0 {
		return "", false
	}
	var parts []string
	free := func(e *Value) bool { return len(e.Comments) == 0 && e.Trailing == "" }
	switch v.Kind {
	case Table:
		for _, s := range v.Pairs {
			part, ok := oneLine(s.Value)
			if !ok || !free(s.Value) {
				return "", false
			}
			parts = append(parts, Path(s.Keys)+" = "+part)
		}
		if len(parts) == 0 {
			return "{}", true
		}
		return "{ " + strings.Join(parts, ", ") + " }", true
	case Array:
		for _, e := range v.Elements {
			part, ok := oneLine(e)
			if !ok || !free(e) {
				return "", false
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	}
	return spell(v), true
}
