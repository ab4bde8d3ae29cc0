package gemini

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// Arguments that arrive in pieces are assembled before the gate evaluates them: each piece names
// its position by a JSON path such as $.items[0].name, in any order.

// tree is a JSON value that is assembled from pieces.
type tree struct {
	keys   []string // of an object, in the order of their first pieces
	values []*tree  // of an object or a list
	list   bool
	leaf   []byte // JSON of a value; of a string the text without quotes
	text   bool   // leaf is a string
	open   bool   // more text follows
	set    bool   // leaf is set
}

// addPieces adds pieces to the arguments of a call.
func (a *answer) addPieces(k *call, pieces jsonstream.Value) {
	if k.partial == nil {
		k.partial = &tree{}
	}
	if a.buffered += len(pieces.Raw()); a.buffered > a.o.MaxBuffered {
		a.refuse(k, stopgate.CodeLimitExceeded)
		return
	}
	if pieces.Kind() != jsonstream.Array {
		a.refuse(k, stopgate.CodeProtocolViolation)
		return
	}
	for piece := range pieces.Elements() {
		if code := k.partial.add(piece); code != "" {
			a.refuse(k, code)
			return
		}
	}
}

// closePieces passes the assembled arguments of a call.
func (a *answer) closePieces(k *call) {
	if k.ended || k.partial == nil {
		return
	}
	text := k.partial.appendTo(nil)
	k.partial = nil
	a.feed(k, text)
}

// add adds a piece. It returns the code with which the call is refused, if any.
func (t *tree) add(piece jsonstream.Value) stopgate.Code {
	path, _ := piece.Get("jsonPath")
	steps, ok := parsePath(path.Text())
	if !ok || len(steps) == 0 {
		return stopgate.CodeProtocolViolation
	}
	for _, s := range steps {
		if t = t.child(s); t == nil {
			return stopgate.CodeProtocolViolation
		}
	}
	return t.assign(piece)
}

// assign sets the value of a leaf, or continues its text.
func (t *tree) assign(piece jsonstream.Value) stopgate.Code {
	if len(t.values) > 0 || t.list {
		return stopgate.CodeDuplicateKey
	}
	more, _ := piece.Get("willContinue")
	values := 0
	for k, v := range piece.Members() {
		switch string(provider.Key(k)) {
		case "jsonPath", "willContinue":
			continue
		case "stringValue":
			if v.Kind() != jsonstream.String || t.set && !(t.text && t.open) {
				return t.refusal(v.Kind() == jsonstream.String)
			}
			t.leaf, t.text = v.AppendText(t.leaf), true
		case "numberValue":
			if v.Kind() != jsonstream.Number || t.set {
				return t.refusal(v.Kind() == jsonstream.Number)
			}
			t.leaf = append(t.leaf, v.Raw()...)
		case "boolValue":
			if v.Kind() != jsonstream.True && v.Kind() != jsonstream.False || t.set {
				return t.refusal(v.Kind() == jsonstream.True || v.Kind() == jsonstream.False)
			}
			t.leaf = append(t.leaf, v.Raw()...)
		case "nullValue":
			if t.set {
				return stopgate.CodeDuplicateKey
			}
			t.leaf = append(t.leaf, "null"...)
		default:
			return stopgate.CodeProtocolViolation
		}
		values++
	}
	t.open = more.Kind() == jsonstream.True
	t.set = t.set || values > 0
	if values > 1 || values == 0 && !t.text {
		return stopgate.CodeProtocolViolation
	}
	return ""
}

// refusal is the code for a value that cannot be set.
func (t *tree) refusal(known bool) stopgate.Code {
	if known {
		return stopgate.CodeDuplicateKey
	}
	return stopgate.CodeProtocolViolation
}

// step is one step of a path: a name, or an index.
type step struct {
	name  string
	index int // -1 for a name
}

// child returns the value at a step and creates it if necessary; nil if there can be none.
func (t *tree) child(s step) *tree {
	switch {
	case t.set, t.list != (s.index >= 0) && len(t.values) > 0:
		return nil
	case s.index >= 0:
		if t.list = true; s.index > len(t.values) {
			return nil
		}
		if s.index == len(t.values) {
			t.values = append(t.values, &tree{})
		}
		return t.values[s.index]
	}
	for i, key := range t.keys {
		if key == s.name {
			return t.values[i]
		}
	}
	t.keys, t.values = append(t.keys, s.name), append(t.values, &tree{})
	return t.values[len(t.values)-1]
}

// appendTo appends the JSON of the value.
func (t *tree) appendTo(dst []byte) []byte {
	switch {
	case t.text:
		return jsonstream.AppendQuote(dst, t.leaf)
	case t.set:
		return append(dst, t.leaf...)
	}
	opening, closing := byte('{'), byte('}')
	if t.list {
		opening, closing = '[', ']'
	}
	dst = append(dst, opening)
	for i, v := range t.values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if !t.list {
			dst = append(jsonstream.AppendQuote(dst, t.keys[i]), ':')
		}
		dst = v.appendTo(dst)
	}
	return append(dst, closing)
}

// maxSteps limits the depth of a path.
const maxSteps = 64

// parsePath parses a path of names and indexes (RFC 9535): $.a['b c'][0]
func parsePath(path string) (steps []step, ok bool) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, false
	}
	for rest != "" {
		var s step
		if s, rest, ok = nextStep(rest); !ok || len(steps) == maxSteps {
			return nil, false
		}
		steps = append(steps, s)
	}
	return steps, true
}

func nextStep(path string) (s step, rest string, ok bool) {
	s.index = -1
	switch {
	case path[0] == '.':
		end := strings.IndexAny(path[1:], ".[]*'\"")
		if end < 0 {
			end = len(path) - 1
		}
		s.name = path[1 : end+1]
		return s, path[end+1:], s.name != ""
	case path[0] != '[' || len(path) < len("[0]"):
		return s, "", false
	case path[1] == '\'' || path[1] == '"':
		return quotedStep(path)
	}
	digits, rest, ok := strings.Cut(path[1:], "]")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || strconv.Itoa(n) != digits {
		return s, "", false
	}
	s.index = n
	return s, rest, true
}

// quotedStep parses ['name'] or ["name"].
func quotedStep(path string) (s step, rest string, ok bool) {
	s.index = -1
	quote := path[1]
	for i := 2; i < len(path); i++ {
		switch path[i] {
		case '\\':
			i++
		case quote:
			rest, ok = strings.CutPrefix(path[i+1:], "]")
			inside := path[2:i]
			if quote == '\'' {
				inside = strings.ReplaceAll(strings.ReplaceAll(inside, `\'`, `'`), `"`, `\"`)
			}
			v, err := jsonstream.Parse([]byte(`{"":"`+inside+`"}`), provider.EnvelopeOptions(len(inside)+8))
			if err != nil {
				return s, "", false
			}
			name, _ := v.Get("")
			s.name = name.Text()
			return s, rest, ok
		}
	}
	return s, "", false
}
