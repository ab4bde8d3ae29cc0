package tomltree

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lineWidth is how long a line may get before an array or inline table is broken
// into one element per line.
const lineWidth = 100

// Key spells one segment of a key: bare if it can be.
func Key(key string) string {
	bare := key != ""
	for i := range len(key) {
		c := key[i]
		bare = bare && ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}
	if bare {
		return key
	}
	return Quote(key)
}

// Quote spells a string: as a literal string where that saves escapes, else as a
// basic string with an escape for everything that does not show itself.
func Quote(text string) string {
	literal := strings.ContainsAny(text, `"\`) && !strings.Contains(text, "'")
	for _, r := range text {
		literal = literal && shows(r)
	}
	if literal && utf8.ValidString(text) {
		return "'" + text + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case shows(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shows reports whether a reader sees a code point for what it is.
func shows(r rune) bool { return unicode.IsPrint(r) || unicode.In(r, unicode.Mn, unicode.Me) }

// Append writes the members of a table under a header, sub-tables behind them with
// headers of their own, in one canonical way and with all comments. The order of
// the members is kept as far as TOML allows: values come before tables. header is
// "[a.b]", "[[a.b]]" or "" for none; path is the dotted key it names.
func Append(dst []byte, header, path string, table *Value) []byte {
	w := &writer{out: dst}
	w.table(header, path, table)
	return w.out
}

type writer struct{ out []byte }

func (w *writer) comments(indent string, comments []string) {
	for _, c := range comments {
		w.out = append(w.out, indent+c+"\n"...)
	}
}

func (w *writer) endLine(trailing string) {
	if trailing != "" {
		w.out = append(w.out, " "+trailing...)
	}
	w.out = append(w.out, '\n')
}

func (w *writer) table(header, path string, t *Value) {
	// A table that only holds tables needs no header of its own.
	own := len(t.Entries) == 0 || len(t.Comments) > 0 || t.Trailing != "" || strings.HasPrefix(header, "[[")
	for _, e := range t.Entries {
		own = own || !headed(e.Value)
	}
	if own && header != "" {
		if len(w.out) > 0 {
			w.out = append(w.out, '\n')
		}
		w.comments("", t.Comments)
		w.out = append(w.out, header...)
		w.endLine(t.Trailing)
	}
	for _, e := range t.Entries {
		if headed(e.Value) {
			continue
		}
		w.comments("", e.Value.Comments)
		key := Key(e.Key) + " = "
		w.out = append(w.out, key...)
		w.value(e.Value, len(key), 0)
		w.endLine(e.Value.Trailing)
	}
	w.comments("", t.Inner)
	for _, e := range t.Entries {
		if !headed(e.Value) {
			continue
		}
		sub := Key(e.Key)
		if path != "" {
			sub = path + "." + sub
		}
		if e.Value.Headers {
			for _, element := range e.Value.Elements {
				w.table("[["+sub+"]]", sub, element)
			}
			continue
		}
		w.table("["+sub+"]", sub, e.Value)
	}
}

// headed reports whether a value is written under a header.
func headed(v *Value) bool { return v.Headers || v.Kind == Table && !v.Inline && v.made != byDots }

func (w *writer) value(v *Value, before, depth int) {
	switch v.Kind {
	case String:
		w.out = append(w.out, Quote(v.Text)...)
	case Array, Table:
		if line, ok := oneLine(v); ok && before+len(line) <= lineWidth {
			w.out = append(w.out, line...)
			return
		}
		w.broken(v, depth)
	default:
		w.out = append(w.out, v.Text...)
	}
}

// broken writes an element per line.
func (w *writer) broken(v *Value, depth int) {
	indent := strings.Repeat("  ", depth+1)
	open, end := "[\n", "]"
	if v.Kind == Table {
		open, end = "{\n", "}"
	}
	w.out = append(w.out, open...)
	for _, e := range v.Entries {
		w.comments(indent, e.Value.Comments)
		key := indent + Key(e.Key) + " = "
		w.out = append(w.out, key...)
		w.value(e.Value, len(key), depth+1)
		w.out = append(w.out, ',')
		w.endLine(e.Value.Trailing)
	}
	for _, e := range v.Elements {
		w.comments(indent, e.Comments)
		w.out = append(w.out, indent...)
		w.value(e, len(indent), depth+1)
		w.out = append(w.out, ',')
		w.endLine(e.Trailing)
	}
	w.comments(indent, v.Inner)
	w.out = append(w.out, strings.Repeat("  ", depth)+end...)
}

// oneLine writes a value on one line; ok is false if a comment is in the way.
func oneLine(v *Value) (line string, ok bool) {
	if len(v.Inner) > 0 {
		return "", false
	}
	var parts []string
	free := func(e *Value) bool { return len(e.Comments) == 0 && e.Trailing == "" }
	switch v.Kind {
	case Table:
		for _, e := range v.Entries {
			part, ok := oneLine(e.Value)
			if !ok || !free(e.Value) {
				return "", false
			}
			parts = append(parts, Key(e.Key)+" = "+part)
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
	case String:
		return Quote(v.Text), true
	}
	return v.Text, true
}
