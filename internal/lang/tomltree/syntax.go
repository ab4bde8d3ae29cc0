package tomltree

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

const (
	maxBytes = 16 << 20
	maxDepth = 64
)

// Parse parses a file. The document is nil if the text is not TOML. With other mistakes it contains
// the readable part, without repeated keys and tables.
func Parse(file string, text []byte) (*Document, diag.List) { return ParsePack(file, text, 0) }

// ParsePack is Parse for the n-th pack of a file: every range of the document has its number.
func ParsePack(file string, text []byte, n uint16) (*Document, diag.List) {
	text = bytes.Clone(text)
	r := &reader{doc: &Document{File: file, Text: text, Lines: diag.NewLines(text)}}
	r.doc.Lines.Pack = n
	if len(text) > maxBytes {
		r.report(diag.TooLarge, diag.Range{}, "the file has more than 16 MiB", "")
		return nil, r.diags
	}
	r.doc.Root = r.newValue(Value{Kind: Table, made: byHeader})
	r.table = r.doc.Root
	r.parser.KeepComments = true
	r.parser.Reset(text)
	for r.parser.NextExpression() {
		r.expression(r.parser.Expression())
	}
	if err := r.parser.Error(); err != nil {
		r.diags = nil // preceding mistakes may be part of the syntax error
		r.syntax(err)
		return nil, r.diags
	}
	if r.tooDeep {
		return nil, r.diags
	}
	return r.doc, r.diags
}

type reader struct {
	parser  unstable.Parser
	doc     *Document
	table   *Value // the current table
	tooDeep bool
	diags   diag.List
	values  []Value // free values of the current block
	entries []Entry
	key     []Entry // likewise for keys
}

// newValue returns a value of the document. Values and entries are allocated in blocks: a file has
// hundreds, and all of them live as long as the document.
func (r *reader) newValue(v Value) *Value {
	v.doc = r.doc
	return next(&r.values, v)
}

func next[T any](free *[]T, v T) *T {
	if len(*free) == cap(*free) {
		*free = make([]T, 0, 32)
	}
	*free = append(*free, v)
	return &(*free)[len(*free)-1]
}

func (r *reader) report(code diag.Code, at diag.Range, message, hint string, related ...diag.Related) {
	r.diags.Add(diag.Diagnostic{
		Code: code, File: r.doc.File, Range: at, Message: message, Hint: hint, Related: related,
	})
}

// syntax reports an error of the parser.
func (r *reader) syntax(err error) {
	var where *unstable.ParserError
	start, end := len(r.doc.Text), len(r.doc.Text)
	if errors.As(err, &where) && len(where.Highlight) > 0 {
		start = int(r.parser.Range(where.Highlight).Offset)
		end = start + len(where.Highlight)
	}
	r.report(diag.Syntax, r.doc.Lines.Range(start, end), err.Error(), r.syntaxHint(start))
}

// syntaxHint returns the remedy of a frequent syntax error.
func (r *reader) syntaxHint(at int) string {
	text := r.doc.Text
	if at >= len(text) {
		return ""
	}
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	line := bytes.TrimSpace(text[start:end])
	switch {
	case bytes.HasPrefix(text[at:], []byte("\uFEFF")):
		return "this is a byte order mark: save the file as UTF-8 without one"
	case at == 0 && (bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))):
		return "this is UTF-16: save the file as UTF-8"
	case text[at] == '*' && bytes.HasPrefix(line, []byte("[")):
		return "TOML wants quotes: `" + string(bytes.Replace(line, []byte("*"), []byte(`"*"`), 1)) + "`"
	case text[at] == ':':
		return "TOML writes `key = value`"
	case bytes.HasPrefix(text[at:], []byte("\u201c")), bytes.HasPrefix(text[at:], []byte("\u201d")), bytes.HasPrefix(text[at:], []byte("\u2018")), bytes.HasPrefix(text[at:], []byte("\u2019")):
		return "write straight quotes: `\"ask\"`"
	case at > 0 && text[at-1] == '\\' || text[at] == '\\':
		return "in single quotes a backslash is a backslash: `pattern = '^git\\s+push'`"
	}
	return ""
}

// expression adds one line, table header or comment of the file to the tree and to
// the list of statements.
func (r *reader) expression(n *unstable.Node) {
	s := &Statement{}
	if next := n.Next(); next.Valid() && next.Kind == unstable.Comment {
		s.Text = commentText(next)
	}
	start := 0
	switch n.Kind {
	case unstable.Comment:
		s.Text, start = commentText(n), int(n.Raw.Offset)
	case unstable.Table, unstable.ArrayTable:
		s.Kind = Header
		if n.Kind == unstable.ArrayTable {
			s.Kind = Headers
		}
		keys := r.keys(n.Key())
		s.Keys, start = keysOf(keys), keys[0].KeyRange.Start.Offset
		r.header(n, keys)
	case unstable.KeyValue:
		keys := r.keys(n.Key())
		s.Kind, s.Keys, start = Pair, keysOf(keys), keys[0].KeyRange.Start.Offset
		s.Value, _ = r.keyValue(r.table, n, keys, 0)
	}
	s.gap = r.gap(start)
	r.doc.Statements = append(r.doc.Statements, s)
}

func commentText(n *unstable.Node) string { return strings.TrimRight(string(n.Data), " \t\r") }

func keysOf(keys []Entry) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = k.Key
	}
	return list
}

// gap reports whether an offset is the start of a line that follows a blank one.
func (r *reader) gap(at int) bool {
	before := r.doc.Text[:at]
	for len(before) > 0 && (before[len(before)-1] == ' ' || before[len(before)-1] == '\t' || before[len(before)-1] == '[') {
		before = before[:len(before)-1]
	}
	if len(before) == 0 || before[len(before)-1] != '\n' {
		return false
	}
	before = bytes.TrimRight(before[:len(before)-1], " \t\r")
	return len(before) > 0 && before[len(before)-1] == '\n'
}

// header opens the table of a header [a.b] or [[a.b]].
func (r *reader) header(n *unstable.Node, keys []Entry) {
	last := keys[len(keys)-1]
	at := keys[0].KeyRange.To(last.KeyRange)
	r.table = r.newValue(Value{Kind: Table, made: byHeader, Range: at}) // remains the current table if the header is invalid
	if r.depth(len(keys), at) {
		return
	}
	parent := r.doc.Root
	for _, k := range keys[:len(keys)-1] {
		e := parent.Get(k.Key)
		if e == nil {
			e = next(&r.entries, Entry{Key: k.Key, KeyRange: k.KeyRange, Value: r.newValue(Value{Kind: Table, made: byPath, Range: at})})
			parent.add(e)
		}
		parent = e.Value
		if parent.Headers {
			parent = parent.Elements[len(parent.Elements)-1]
		}
		if parent.Kind != Table || parent.made == byValue {
			r.closed(k, e)
			return
		}
	}
	table := r.table
	e := parent.Get(last.Key)
	if n.Kind == unstable.ArrayTable {
		switch {
		case e == nil:
			parent.add(next(&r.entries, Entry{Key: last.Key, KeyRange: last.KeyRange, Value: r.newValue(Value{
				Kind: Array, Headers: true, made: byHeader, Range: at, Elements: []*Value{table},
			})}))
		case e.Value.Headers:
			e.Value.Elements = append(e.Value.Elements, table)
		default:
			r.twice(last, e)
		}
		return
	}
	switch {
	case e == nil:
		parent.add(next(&r.entries, Entry{Key: last.Key, KeyRange: last.KeyRange, Value: table}))
	case e.Value.Kind == Table && e.Value.made == byPath:
		e.KeyRange = last.KeyRange
		v := e.Value
		v.made, v.Range = byHeader, at
		r.table = v
	default:
		r.twice(last, e)
	}
}

// keyValue adds `a.b = value`, whose keys were parsed, to a table, unless the key is repeated. It
// returns the value and the offset after it.
func (r *reader) keyValue(table *Value, n *unstable.Node, keys []Entry, depth int) (*Value, int) {
	last := keys[len(keys)-1]
	depth += len(keys)
	value, end := r.value(n.Value(), r.valueStart(last.KeyRange.End.Offset), depth)
	if r.depth(depth, last.KeyRange) {
		return value, end
	}
	for _, k := range keys[:len(keys)-1] {
		e := table.Get(k.Key)
		if e == nil {
			e = next(&r.entries, Entry{Key: k.Key, KeyRange: k.KeyRange, Value: r.newValue(Value{
				Kind: Table, made: byDots, Range: keys[0].KeyRange.To(value.Range),
			})})
			table.add(e)
		}
		if e.Value.Kind != Table || e.Value.made != byDots {
			r.closed(k, e)
			return value, end
		}
		table = e.Value
	}
	if e := table.Get(last.Key); e != nil {
		r.twice(last, e)
		return value, end
	}
	table.add(next(&r.entries, Entry{Key: last.Key, KeyRange: last.KeyRange, Value: value}))
	return value, end
}

// valueStart returns the offset of the value after a key.
func (r *reader) valueStart(at int) int {
	for r.doc.Text[at] == ' ' || r.doc.Text[at] == '\t' || r.doc.Text[at] == '=' {
		at++
	}
	return at
}

// value copies a value that starts at an offset and returns the offset after it. The parser does
// not report where arrays and inline tables end, so the walk tracks it.
func (r *reader) value(n *unstable.Node, start, depth int) (*Value, int) {
	v := r.newValue(Value{made: byValue})
	end := start + int(n.Raw.Length)
	switch n.Kind {
	case unstable.String:
		v.Kind, v.Text = String, string(n.Data)
	case unstable.Bool:
		v.Kind, v.Text = Bool, string(n.Data)
	case unstable.Integer:
		v.Kind, v.Text = Integer, string(n.Data)
	case unstable.Float:
		v.Kind, v.Text = Float, string(n.Data)
	case unstable.Array:
		v.Kind = Array
		end = r.container(v, n, start, depth)
	case unstable.InlineTable:
		v.Kind, v.Inline = Table, true
		end = r.container(v, n, start, depth)
	default:
		v.Kind, v.Text = Date, string(n.Data)
	}
	v.Range = r.doc.Lines.Range(start, end)
	return v, end
}

// container reads the elements between brackets or braces. A comment belongs to the next element,
// or to the previous one on the same line.
func (r *reader) container(v *Value, n *unstable.Node, start, depth int) (end int) {
	at := start + 1
	if r.depth(depth+1, r.doc.Lines.Range(start, at)) {
		return at
	}
	var pending []string
	var before *Value
	comment := func(c *unstable.Node) {
		from := int(c.Raw.Offset)
		if before != nil && len(pending) == 0 && before.Trailing == "" &&
			!bytes.ContainsRune(r.doc.Text[before.Range.End.Offset:from], '\n') {
			before.Trailing = commentText(c)
		} else {
			if (before != nil || len(pending) > 0) && r.gap(from) {
				pending = append(pending, "")
			}
			pending = append(pending, commentText(c))
		}
		at = from + int(c.Raw.Length)
	}
	for it := n.Children(); it.Next(); {
		child := it.Node()
		if child.Kind == unstable.Comment {
			comment(child)
			for more := child.Child(); more.Valid(); more = more.Next() {
				comment(more)
			}
			continue
		}
		at = r.skip(at)
		var element *Value
		if (before != nil || len(pending) > 0) && r.gap(at) {
			pending = append(pending, "")
		}
		if v.Kind == Table {
			keys := r.keys(child.Key())
			element, at = r.keyValue(v, child, keys, depth)
			v.Pairs = append(v.Pairs, &Statement{Kind: Pair, Keys: keysOf(keys), Value: element})
		} else {
			element, at = r.value(child, at, depth+1)
			v.Elements = append(v.Elements, element)
		}
		element.Comments, pending = pending, nil
		before = element
	}
	v.Inner = pending
	return r.skip(at) + 1
}

// skip returns the offset of the next byte that is neither white space nor a comma. It exists
// because the brackets of a parsed text are closed.
func (r *reader) skip(at int) int {
	for {
		switch r.doc.Text[at] {
		case ' ', '\t', '\r', '\n', ',':
			at++
		default:
			return at
		}
	}
}

// keys copies a dotted key without the values of its entries. Of a key with too many parts it
// copies the first ones and the last.
func (r *reader) keys(it unstable.Iterator) []Entry {
	if len(r.key) == cap(r.key) {
		r.key = make([]Entry, 0, 32)
	}
	keys := r.key[len(r.key):]
	var last *unstable.Node
	add := func(n *unstable.Node) {
		from := int(n.Raw.Offset)
		keys = append(keys, Entry{Key: string(n.Data), KeyRange: r.doc.Lines.Range(from, from+int(n.Raw.Length))})
	}
	for it.Next() {
		if last = it.Node(); len(keys) < maxDepth {
			add(last)
			last = nil
		}
	}
	if last != nil {
		add(last)
	}
	r.key = r.key[:min(len(r.key)+len(keys), cap(r.key))] // an append that did not fit has reallocated
	return keys[:len(keys):len(keys)]
}

// depth reports whether the nesting exceeds the limit, with one finding per file.
func (r *reader) depth(n int, at diag.Range) bool {
	if n <= maxDepth {
		return r.tooDeep
	}
	if !r.tooDeep {
		r.report(diag.TooLarge, at, "tables and arrays are nested more than 64 levels deep", "")
	}
	r.tooDeep = true
	return true
}
