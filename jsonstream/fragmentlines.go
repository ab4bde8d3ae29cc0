package jsonstream

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
)

// AppendJSON appends the fragment as one line of JSON with its line feed, in the fragment
// protocol of docs/reference/fragments.md:
//
//	{"index":0,"call":"call_1","tool":"fs_write","path":["paths",0],"string":"src/"}
func (f *Fragment) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"index":`...), int64(f.Index), 10)
	if f.Call != "" {
		dst = AppendQuote(append(dst, `,"call":`...), f.Call)
	}
	if f.Tool != "" {
		dst = AppendQuote(append(dst, `,"tool":`...), f.Tool)
	}
	if f.Kind == Invalid {
		dst = AppendQuote(append(dst, `,"error":{"code":`...), f.Err.Code)
		dst = strconv.AppendInt(append(dst, `,"offset":`...), f.Err.Offset, 10)
		dst = AppendQuote(append(dst, `,"pointer":`...), f.Err.Pointer)
		dst = AppendQuote(append(dst, `,"detail":`...), f.Err.Detail)
		return append(dst, "}}\n"...)
	}
	dst = append(dst, `,"path":[`...)
	for i, s := range f.Path {
		if i > 0 {
			dst = append(dst, ',')
		}
		if s.InArray {
			dst = strconv.AppendInt(dst, int64(s.Index), 10)
		} else {
			dst = AppendQuote(dst, s.Key)
		}
	}
	switch f.Kind {
	case String:
		dst = AppendQuote(append(dst, `],"string":`...), f.Text)
	case End:
		dst = AppendQuote(append(dst, `],"done":`...), endedName(f.Ended))
	default:
		dst = append(append(dst, `],"scalar":`...), f.Text...)
	}
	return append(dst, "}\n"...)
}

func endedName(k Kind) string {
	switch k {
	case Object, Array, String:
		return k.String()
	}
	return "scalar"
}

// ParseFragment parses one line of the fragment protocol. Members that the protocol does not
// have are refused.
func ParseFragment(line []byte) (Fragment, error) {
	root, err := Parse(line, Options{ObjectRoot: true, MaxExponent: AnyExponent, MaxBytes: LargestMaxBytes})
	if err != nil {
		return Fragment{}, fmt.Errorf("parse fragment: %w", err)
	}
	f := Fragment{Index: -1, Kind: ObjectStart}
	path := false
	for key, v := range root.Members() {
		name, ok := key.Text(), false
		switch name {
		case "index":
			f.Index, ok = index(v)
		case "call":
			f.Call, ok = stopgate.CallID(v.Text()), v.Kind() == String
		case "tool":
			f.Tool, ok = stopgate.ToolName(v.Text()), v.Kind() == String
		case "path":
			f.Path, ok = segments(v)
			path = true
		case "string", "scalar", "done", "error":
			if f.Kind != ObjectStart {
				return Fragment{}, fmt.Errorf("parse fragment: %q: a line has one of string, scalar, done and error", name)
			}
			ok = f.leaf(name, v)
		}
		if !ok {
			return Fragment{}, fmt.Errorf("parse fragment: member %q: unknown, or not a value of its type", name)
		}
	}
	if f.Index < 0 || f.Kind == ObjectStart || path == (f.Kind == Invalid) {
		return Fragment{}, errors.New("parse fragment: a line has an index, and a path with one of string, scalar and done, or an error")
	}
	return f, nil
}

// leaf reads the member that is the content of a fragment.
func (f *Fragment) leaf(name string, v Value) (ok bool) {
	switch name {
	case "string":
		f.Kind, f.Text = String, v.AppendText(nil)
		return v.Kind() == String
	case "scalar":
		f.Kind, f.Text = v.Kind(), v.Raw()
		return f.Kind == Number || f.Kind == True || f.Kind == False || f.Kind == Null
	case "done":
		f.Kind = End
		for _, k := range []Kind{Object, Array, String, Number} {
			if v.IsText(endedName(k)) {
				f.Ended = k
			}
		}
		return f.Ended != Invalid
	}
	f.Kind, f.Err = Invalid, &Error{Code: stopgate.CodeMalformedArguments}
	for key, m := range v.Members() {
		switch {
		case key.IsText("code") && stopgate.Code(m.Text()).Valid():
			f.Err.Code = stopgate.Code(m.Text())
		case key.IsText("offset"):
			n, known := index(m)
			if !known {
				return false
			}
			f.Err.Offset = int64(n)
		case key.IsText("pointer"):
			f.Err.Pointer = m.Text()
		case key.IsText("detail"):
			f.Err.Detail = m.Text()
		default:
			return false
		}
	}
	return v.Kind() == Object
}

func segments(v Value) (path []Segment, ok bool) {
	if v.Kind() != Array {
		return nil, false
	}
	for e := range v.Elements() {
		s := Segment{Key: e.Text()}
		if e.Kind() != String {
			if s.Index, s.InArray = index(e); !s.InArray {
				return nil, false
			}
		}
		path = append(path, s)
	}
	return path, true
}

// index reads a whole number that is not negative.
func index(v Value) (n int, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	n, err := strconv.Atoi(string(v.Raw()))
	return n, err == nil && n >= 0
}
