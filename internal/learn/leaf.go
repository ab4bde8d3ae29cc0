package learn

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// leaf are the values of a call at a pointer; those of an array are together, as for a rule.
type leaf struct {
	arg    string // the pointer as rules write it, without indexes
	kind   schema.Annotation
	known  bool // every schema describes it: without a kind it is no path, command or URL
	values []value
}

// value is a value as JSON text, and its text if it is a string.
type value struct {
	json, text string
	is         jsonstream.Kind
}

// maxValue is the longest value that a rule may spell out, in bytes. A longer plain text is content, as it
// is for grants.
const maxValue = 256

// content reports a plain text that names nothing: of several lines or long, at a place that the schema
// describes.
func (l *leaf) content() bool {
	return l.known && l.kind == schema.None && slices.ContainsFunc(l.values, func(v value) bool {
		return v.is == jsonstream.String && (len(v.json) > maxValue || strings.Contains(v.text, "\n"))
	})
}

// leavesOf returns the values of accepted arguments by their pointers, in the order of the text. It is not
// ok if a rule cannot spell one.
func leavesOf(e *eval.Evaluation) (list []leaf, ok bool) {
	root := e.Document().Root()
	for _, l := range e.Leaves() {
		if l.Pointer == "" {
			continue // arguments without a member
		}
		v := value{json: string(l.Value.Raw()), is: l.Value.Kind()}
		switch v.is {
		case jsonstream.String:
			v.text = l.Value.Text()
		case jsonstream.Object, jsonstream.Array:
			return nil, false // an empty one, or an argument vector
		}
		arg := withoutIndexes(root, l.Pointer)
		if i := slices.IndexFunc(list, func(of leaf) bool { return of.arg == arg }); i >= 0 {
			list[i].values = append(list[i].values, v)
			list[i].known = list[i].known && l.Known
			if list[i].kind != l.Annotation {
				return nil, false
			}
			continue
		}
		list = append(list, leaf{arg: arg, kind: l.Annotation, known: l.Known, values: []value{v}})
	}
	for i := range list {
		for _, v := range list[i].values {
			if !list[i].content() && (len(v.json) > maxValue || visible.Text(v.text) != v.text) {
				return nil, false
			}
		}
	}
	return list, true
}

// withoutIndexes returns a pointer without its steps into arrays.
func withoutIndexes(root jsonstream.Value, text string) string {
	pointer, err := jsonstream.ParsePointer(text)
	if err != nil {
		return text
	}
	var kept jsonstream.Pointer
	for at := root; len(pointer) > 0; pointer = pointer[1:] {
		if at.Kind() == jsonstream.Array {
			i, _ := strconv.Atoi(pointer[0]) // of a leaf that is there
			at, _ = at.Index(i)
			continue
		}
		kept = append(kept, pointer[0])
		at, _ = at.Get(pointer[0])
	}
	return kept.String()
}

// integer are the numbers that TOML has as they are.
var integer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`) })

// literal returns a value as a policy file writes it, false if it cannot.
func (v value) literal() (string, bool) {
	switch v.is {
	case jsonstream.String:
		return tomltree.Quote(v.text), true
	case jsonstream.Number:
		if integer().MatchString(v.json) {
			return v.json, true
		}
		return `{ number = ` + tomltree.Quote(v.json) + ` }`, true
	case jsonstream.Null:
		return "{ null = true }", true
	case jsonstream.True, jsonstream.False:
		return v.json, true
	}
	return "", false
}
