package tomltree

import (
	"strings"
	"unicode/utf8"
)

// lineWidth is the maximum length of a line; longer arrays have one element per line.
const lineWidth = 100

// StatementKind is the kind of a line of a document.
type StatementKind uint8

// The kinds of statements.
const (
	Comment StatementKind = iota // a comment on its own line
	Pair                         // a key and its value
	Header                       // [a.b]
	Headers                      // [[a.b]]
)

// Statement is one line of a document outside of values, or one pair of an inline table, in file
// order. Before Format a caller may change Keys, the order of the pairs of an inline table, and
// OwnLines of arrays.
type Statement struct {
	Kind  StatementKind
	Keys  []string // as written, relative to the header above a pair
	Value *Value   // of a pair
	Text  string   // the comment, or the trailing comment of the line; "" in an inline table, see Value

	gap bool // a blank line precedes it
}

// Format returns the document in its canonical layout. Only white space, quotes and line breaks in
// values change; the order of keys and all comments are kept. Formatting is idempotent.
//
//   - One blank line precedes a header and the comments above it; elsewhere a single one is kept
//     where the author left any.
//   - An array is on one line if it fits, else it has one element per line. Inline tables are on
//     one line, whose arrays are broken if it is too long, unless it has comments.
//   - Trailing comments of consecutive lines are aligned, except those of headers.
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

// leads reports whether this statement is a header or the first of the comments directly above one.
func (d *Document) leads(i int) bool {
	if i > 0 && d.Statements[i-1].Kind == Comment && !d.Statements[i].gap {
		return false // the comments above are already separated, or belong to no header
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

// writer collects lines; text is the current one.
type writer struct {
	lines []line
	text  strings.Builder
}

type line struct{ text, comment string }

func (w *writer) line(text, comment string) {
	w.lines = append(w.lines, line{w.text.String() + text, comment})
	w.text.Reset()
}

// bytes joins the lines and aligns the trailing comments of consecutive ones.
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

// width returns the length of the last line of a text in characters.
func width(text string) int {
	return utf8.RuneCountInString(text[strings.LastIndexByte(text, '\n')+1:])
}

// value appends a value to the current line; after is the minimum number of characters that follow
// it on its line.
func (w *writer) value(v *Value, depth, after int) {
	if text, ok := oneLine(v); ok && (v.Kind != Array && v.Kind != Table || width(w.text.String())+utf8.RuneCountInString(text)+after <= lineWidth) {
		w.text.WriteString(text)
		return
	}
	w.split(v, depth)
}

// split writes an array or inline table over several lines.
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

// row writes an inline table that is too long for a line, or that has an array with comments: its
// arrays are broken, the table itself is not.
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

// inner reports whether an array contains tables or arrays.
func inner(v *Value) bool {
	for _, e := range v.Elements {
		if e.Kind == Table || e.Kind == Array {
			return true
		}
	}
	return false
}

// broken writes one element per line.
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

// comments writes comments on their own lines; "" is a blank line.
func (w *writer) comments(indent string, comments []string) {
	for _, c := range comments {
		if c != "" {
			c = indent + c
		}
		w.line(c, "")
	}
}

// commented reports whether a table directly contains comments.
func commented(v *Value) bool {
	for _, s := range v.Pairs {
		if len(s.Value.Comments) > 0 || s.Value.Trailing != "" {
			return true
		}
	}
	return len(v.Inner) > 0
}

// oneLine writes a value on one line; ok is false if it needs several.
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
