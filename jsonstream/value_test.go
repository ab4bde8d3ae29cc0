package jsonstream_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/jsonstream"
)

const sample = ` {"id": "a\u0062c", "plain":"xyz", "n":-1.50, "list":[1, [2, 3], {"deep":true}], "\u00e9":null, "o":{}, "l":[]} `

// Proves F043-08: the properties of a value, worked out by hand.
func TestValue(t *testing.T) {
	root := mustParse(t, []byte(sample))
	get := func(key string) jsonstream.Value {
		v, ok := root.Get(key)
		if !ok {
			t.Fatalf("no member %q", key)
		}
		return v
	}
	for _, tt := range []struct {
		v    jsonstream.Value
		kind jsonstream.Kind
		raw  string
		text string
		len  int
	}{
		{root, jsonstream.Object, sample[1 : len(sample)-1], "", 7},
		{get("id"), jsonstream.String, `"a\u0062c"`, "abc", 0},
		{get("plain"), jsonstream.String, `"xyz"`, "xyz", 0},
		{get("n"), jsonstream.Number, `-1.50`, "", 0},
		{get("list"), jsonstream.Array, `[1, [2, 3], {"deep":true}]`, "", 3},
		{get("é"), jsonstream.Null, `null`, "", 0},
		{get("o"), jsonstream.Object, `{}`, "", 0},
		{get("l"), jsonstream.Array, `[]`, "", 0},
		{jsonstream.Value{}, jsonstream.Invalid, ``, "", 0},
	} {
		start, end := tt.v.Span()
		if tt.v.Kind() != tt.kind || string(tt.v.Raw()) != tt.raw || sample[start:end] != tt.raw || tt.v.Text() != tt.text ||
			string(tt.v.AppendText([]byte("+"))) != "+"+tt.text || tt.v.Len() != tt.len || tt.v.IsValid() != (tt.kind != jsonstream.Invalid) {
			t.Errorf("%s: %v %q %q %d", tt.raw, tt.v.Kind(), tt.v.Raw(), tt.v.Text(), tt.v.Len())
		}
		if isText := tt.v.IsText(tt.text); isText != (tt.kind == jsonstream.String) {
			t.Errorf("%s: is %q: %t", tt.raw, tt.text, isText)
		}
		if tt.v.IsText("abd") || tt.v.IsText("ab") || tt.v.IsText("abcd") || tt.v.IsText(`a\u0062c`) || tt.v.IsText(strings.Repeat("abc", 9)) {
			t.Errorf("%s is text that it is not", tt.raw)
		}
		if _, ok := tt.v.Index(tt.len); ok {
			t.Errorf("%s has element %d", tt.raw, tt.len)
		}
		if _, ok := tt.v.Index(-1); ok {
			t.Errorf("%s has element -1", tt.raw)
		}
		if _, ok := tt.v.Get("absent"); ok {
			t.Errorf("%s has a member that is absent", tt.raw)
		}
		if d, ok := tt.v.Decimal(); ok != (tt.kind == jsonstream.Number) || ok && d.String() != "-1.5" {
			t.Errorf("%s is the number %v", tt.raw, d)
		}
	}
	if text, ok := get("plain").TextBytes(); !ok || string(text) != "xyz" {
		t.Errorf("plain text %q", text)
	}
	if _, ok := get("id").TextBytes(); ok {
		t.Error("a string with escapes has no plain text")
	}
	third, _ := get("list").Index(2)
	if deep, ok := third.Get("deep"); !ok || deep.Kind() != jsonstream.True {
		t.Error("list element 2")
	}
	start, end, ok := root.MemberSpan("n")
	if !ok || sample[start:end] != `"n":-1.50` {
		t.Errorf("span of a member: %q", sample[start:end])
	}
	if _, _, ok := root.MemberSpan("absent"); ok {
		t.Error("span of an absent member")
	}
}

// Proves F043-08: members and elements are iterated in the order of the text, and a loop can end
// early.
func TestIteration(t *testing.T) {
	root := mustParse(t, []byte(sample))
	var keys []string
	for key, value := range root.Members() {
		if !value.IsValid() || key.Kind() != jsonstream.String {
			t.Errorf("member %s", key.Raw())
		}
		keys = append(keys, key.Text())
	}
	if want := []string{"id", "plain", "n", "list", "é", "o", "l"}; !slices.Equal(keys, want) {
		t.Errorf("keys %q", keys)
	}
	list, _ := root.Get("list")
	var elements []string
	for v := range list.Elements() {
		elements = append(elements, string(v.Raw()))
	}
	if want := []string{`1`, `[2, 3]`, `{"deep":true}`}; !slices.Equal(elements, want) {
		t.Errorf("elements %q", elements)
	}
	for range root.Members() {
		break
	}
	for range list.Elements() {
		break
	}
	for range list.Members() {
		t.Error("an array has a member")
	}
	for range root.Elements() {
		t.Error("an object has an element")
	}
}

// Proves I7: a refused text has no value.
func TestZeroValue(t *testing.T) {
	var d jsonstream.Document
	if d.Root().IsValid() || d.Text() != nil {
		t.Error("a zero document has a value")
	}
	if err := d.Scan([]byte(`{"a":1}`), jsonstream.Options{}); err != nil || !d.Root().IsValid() || string(d.Text()) != `{"a":1}` {
		t.Error(err)
	}
	if err := d.Scan([]byte(`{"a":1`), jsonstream.Options{}); err == nil || d.Root().IsValid() || d.Text() != nil {
		t.Error("a refused text has a value")
	}
	if v, err := jsonstream.Parse([]byte(`[`), jsonstream.Options{}); err == nil || v.IsValid() {
		t.Error("a refused text has a value")
	}
}

// Proves D25-12: pointers are parsed and formatted, and find their values.
func TestPointer(t *testing.T) {
	// The examples of RFC 6901 section 5.
	rfc := mustParse(t, []byte(`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`))
	for _, tt := range []struct{ pointer, found string }{
		{"", string(rfc.Raw())}, {"/foo", `["bar","baz"]`}, {"/foo/0", `"bar"`}, {"/", "0"}, {"/a~1b", "1"}, {"/c%d", "2"}, {"/e^f", "3"},
		{"/g|h", "4"}, {`/i\j`, "5"}, {`/k"l`, "6"}, {"/ ", "7"}, {"/m~0n", "8"},
		{"/foo/2", ""}, {"/foo/-", ""}, {"/foo/01", ""}, {"/foo/-1", ""}, {"/foo/+1", ""}, {"/foo/a", ""}, {"/foo/99999999999999999999", ""},
		{"/foo/0/x", ""}, {"/absent", ""}, {"/absent/x", ""}, {"/~01", ""},
	} {
		p, err := jsonstream.ParsePointer(tt.pointer)
		if err != nil {
			t.Errorf("%s: %v", tt.pointer, err)
		}
		if p.String() != tt.pointer {
			t.Errorf("%s is written as %s", tt.pointer, p)
		}
		if v, ok := p.Find(rfc); ok != (tt.found != "") || ok && string(v.Raw()) != tt.found {
			t.Errorf("%s finds %q", tt.pointer, v.Raw())
		}
		if _, ok := p.Find(jsonstream.Value{}); ok {
			t.Errorf("%s finds something in nothing", tt.pointer)
		}
	}
	for text, offset := range map[string]int{"a": 0, "a/b": 0, "/~": 1, "/a~2": 2, "/a/b~": 4, "/~0~x": 3} {
		_, err := jsonstream.ParsePointer(text)
		var e *jsonstream.PointerError
		if !errors.As(err, &e) || e.Offset != offset || !strings.Contains(e.Error(), fmt.Sprint("at byte ", offset)) {
			t.Errorf("%s: %v, want an error at %d", text, err, offset)
		}
	}
	if p, _ := jsonstream.ParsePointer("/~01/~10"); !slices.Equal(p, []string{"~1", "/0"}) {
		t.Errorf("~01 and ~10 are %q", []string(p))
	}
}

// Proves L4: canonical spelling of strings, also of text that is not UTF-8.
func TestAppendQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `""`,
		"a/b <>&'\x7f":                `"a/b <>&'` + "\x7f" + `"`,
		"\"\\":                        `"\"\\"`,
		"\b\f\n\r\t":                  `"\b\f\n\r\t"`,
		"\x00\x01\x0b\x1f":            `"\u0000\u0001\u000b\u001f"`,
		"é中😀\u2028":                   "\"é中😀\u2028\"",
		"a\xffb\xed\xa0\x80\xc3":      "\"a\ufffdb\ufffd\ufffd\ufffd\ufffd\"",
		strings.Repeat("long\n", 100): `"` + strings.Repeat(`long\n`, 100) + `"`,
	} {
		if got := string(jsonstream.AppendQuote(nil, text)); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
		if got := string(jsonstream.AppendQuote([]byte("x"), []byte(text))); got != "x"+want {
			t.Errorf("%q is quoted as %s", text, got)
		}
	}
}

// Proves I8: canonical text, worked out by hand.
func TestCanonical(t *testing.T) {
	var again jsonstream.Hasher
	for text, want := range map[string]string{
		`{"b":1,"a":[true,false,null,"x"]}`:             `{"a":[true,false,null,"x"],"b":1}`,
		` { "a" : 1.0 , "B" : 1e0, "\u0000":-0 } `:      `{"\u0000":0,"B":1,"a":1}`,
		`{"\u0062":0,"a":{"d":[],"c":{}}}`:              `{"a":{"c":{},"d":[]},"b":0}`,
		`"\u00e9\/\u0022\n\ud83d\ude00 plain"`:          `"é/\"\n😀 plain"`,
		`[9007199254740993,9007199254740992,100e-2,1]`:  `[9007199254740993,9007199254740992,1,1]`,
		`[1E400,0.1e-9,123.4500,-0.0,0e999999]`:         `[1e400,1e-10,123.45,0,0]`,
		`{"é":1,"z":2,"😀":3,"` + "\uffff" + `":4,"":5}`: `{"":5,"z":2,"é":1,"` + "\uffff" + `":4,"😀":3}`,
	} {
		v := mustParse(t, []byte(text))
		if got := string(jsonstream.AppendCanonical(nil, v)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		if jsonstream.HashCanonical(v) != sha256.Sum256([]byte(want)) || again.Hash(v) != sha256.Sum256([]byte(want)) {
			t.Errorf("%s: the hash is not that of %s", text, want)
		}
	}
	// Long strings are hashed in place, in canonical or other spelling.
	for n := 240; n < 260; n++ {
		long, x := strings.Repeat("l", n), strings.Repeat("x", 300)
		var ours jsonstream.Aggregator
		p := jsonstream.NewParser(&ours, jsonstream.Options{})
		text := `{"b":"` + x + `","a":["` + long + `",1.0,"` + long + `\u000a"]}`
		want := `{"a":["` + long + `",1,"` + long + `\n"],"b":"` + x + `"}`
		if err := errors.Join(p.Feed([]byte(text)), p.Close()); err != nil {
			t.Fatal(err)
		}
		for _, v := range []jsonstream.Value{mustParse(t, []byte(text)), ours.Document().Root()} {
			if again.Hash(v) != sha256.Sum256([]byte(want)) || string(jsonstream.AppendCanonical(nil, v)) != want {
				t.Errorf("strings of %d bytes", n)
			}
		}
	}
	if got := jsonstream.AppendCanonical(nil, jsonstream.Value{}); len(got) != 0 {
		t.Errorf("the canonical text of nothing is %q", got)
	}
}

// Proves I8, L4: edits leave everything between them unchanged.
func TestSplice(t *testing.T) {
	text := []byte(`{"a":1,"b":2}`)
	for _, tt := range []struct {
		edits []jsonstream.Edit
		want  string // "" for an error
	}{
		{nil, `{"a":1,"b":2}`},
		{[]jsonstream.Edit{{5, 6, []byte("10")}}, `{"a":10,"b":2}`},
		{[]jsonstream.Edit{{1, 7, nil}, {11, 12, []byte("null")}, {12, 12, []byte(`,"c":3`)}}, `{"b":null,"c":3}`},
		{[]jsonstream.Edit{{0, 0, []byte("[")}, {13, 13, []byte("]")}}, `[{"a":1,"b":2}]`},
		{[]jsonstream.Edit{{5, 6, nil}, {1, 2, nil}}, ``},
		{[]jsonstream.Edit{{5, 8, nil}, {7, 9, nil}}, ``},
		{[]jsonstream.Edit{{5, 4, nil}}, ``},
		{[]jsonstream.Edit{{5, 14, nil}}, ``},
		{[]jsonstream.Edit{{-1, 2, nil}}, ``},
	} {
		got, err := jsonstream.Splice([]byte("+"), text, tt.edits)
		if (err == nil) != (tt.want != "") || string(got) != "+"+tt.want {
			t.Errorf("%v: %s, %v", tt.edits, got, err)
		}
	}
}

// Proves I8: removals with their commas, worked out by hand.
func TestAppendRemovals(t *testing.T) {
	for _, tt := range []struct{ text, remove, want string }{
		{`{ "a":1, "b":2, "c":3 }`, "a", `{ "b":2, "c":3 }`},
		{`{ "a":1, "b":2, "c":3 }`, "b", `{ "a":1, "c":3 }`},
		{`{ "a":1, "b":2, "c":3 }`, "bc", `{ "a":1 }`},
		{`{ "a":1, "b":2, "c":3 }`, "ac", `{ "b":2 }`},
		{`{ "a":1, "b":2, "c":3 }`, "abc", `{  }`},
		{`{ "a":1, "b":2, "c":3 }`, "x", `{ "a":1, "b":2, "c":3 }`},
		{`["a",["b"] ,"c"]`, "a", `[["b"] ,"c"]`},
		{`["a",["b"] ,"c"]`, "c", `["a",["b"]]`},
		{`"a"`, "a", `"a"`},
	} {
		root := mustParse(t, []byte(tt.text))
		edits := root.AppendRemovals(nil, func(key, value jsonstream.Value) bool {
			name := key.Text() + value.Text()
			return name != "" && strings.Contains(tt.remove, name)
		})
		if got, err := jsonstream.Splice(nil, []byte(tt.text), edits); err != nil || string(got) != tt.want {
			t.Errorf("%s without %s is %s, %v", tt.text, tt.remove, got, err)
		}
	}
}

// Proves I8: after any removals the rest is valid and unchanged.
func TestAppendRemovalsKeepsValidJSON(t *testing.T) {
	check(t, func(t *rapid.T) {
		doc := documents(2).Draw(t, "document")
		root := mustParse(t, []byte(doc.text))
		choice := rapid.SliceOfN(rapid.Bool(), 21, 21).Draw(t, "choice")
		var want []string
		n := 0
		edits := root.AppendRemovals(nil, func(key, value jsonstream.Value) bool {
			n++
			if choice[n] {
				return true
			}
			if (root.Kind() == jsonstream.Object) != key.IsValid() {
				t.Fatalf("%s: key %s", doc.text, key.Raw())
			}
			want = append(append(want, string(key.Raw())), string(value.Raw()))
			return false
		})
		text, err := jsonstream.Splice(nil, []byte(doc.text), edits)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		rest := mustParse(t, text)
		for key, value := range rest.Members() {
			got = append(got, string(key.Raw()), string(value.Raw()))
		}
		for value := range rest.Elements() {
			got = append(got, "", string(value.Raw()))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s without %v is %s", doc.text, choice, text)
		}
	})
}

// Proves F043-08: the parts of a text together are the text, and no part is much longer than
// requested.
func TestTextParts(t *testing.T) {
	for _, text := range []string{"", "plain", "größe 😀 \"x\" \\ \n\t\x01", strings.Repeat("code \"with\"\tescapes\n", 500), strings.Repeat("😀ü\\", 700), strings.Repeat("x", 5000)} {
		for _, spelled := range []string{string(jsonstream.AppendQuote(nil, text)), strings.ReplaceAll(string(jsonstream.AppendQuote(nil, text)), "😀", `\ud83d\ude00`)} {
			v, err := jsonstream.Parse([]byte(spelled), jsonstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{0, 1, 64, 100, 1000} {
				var got []byte
				for part := range v.TextParts(make([]byte, 0, size)) {
					if _, direct := v.TextBytes(); !direct && len(part) > max(size, 72) {
						t.Errorf("a part of %d bytes for a buffer of %d", len(part), size)
					}
					got = append(got, part...)
				}
				if string(got) != text {
					t.Errorf("%.40s in parts of %d: %.40q", spelled, size, got)
				}
				for range v.TextParts(nil) {
					break
				}
			}
		}
	}
	for part := range (jsonstream.Value{}).TextParts(nil) {
		t.Errorf("no value has a text %q", part)
	}
}
