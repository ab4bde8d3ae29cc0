package encoding_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

var twelveAndAHalf, _ = jsonstream.ParseDecimal([]byte("12.5"))

var amounts = cmp.Comparer(func(a, b session.Amount) bool { return a == b })

// fill sets every field of a value, so that the test notices a new field that is not written.
// Texts contain characters that JSON escapes.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if _, ok := v.Interface().(session.Amount); ok {
			a, _ := session.AmountOf(twelveAndAHalf)
			v.Set(reflect.ValueOf(a))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.String:
		v.SetString("a\"\\\n\u00e9\x01" + strings.Repeat("x", *n%9))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // a mode, a scope, a space
		v.SetUint(1)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(-int64(*n))
	default:
		panic(v.Kind())
	}
}

// encoded returns the text of encoding/json, without its escapes for HTML.
func encoded(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain returns the text of a compact form.
func plain(t *testing.T, small []byte) string {
	t.Helper()
	text, err := compact.Expand(nil, small, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Proves that cells and facts are written as encoding/json writes them, with every field
// and with none, and that cells are read again as they were.
func TestMarshalLikeEncodingJSON(t *testing.T) {
	n := 0
	var full session.Cell
	fill(reflect.ValueOf(&full).Elem(), &n)
	bare := session.Cell{Call: session.Issued{Fact: &session.Fact{Release: &session.Release{
		Verdict: stopgate.Verdict{Candidates: []int{}, Floors: []stopgate.Floor{}},
	}}}, Was: &session.Was{}, Self: &session.Condition{}}
	for name, c := range map[string]session.Cell{"full": full, "bare": bare, "zero": {}} {
		text := encoding.MarshalCell(c)
		if diff := cmp.Diff(encoded(t, c), plain(t, text)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		got, err := encoding.UnmarshalCell(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c, got, amounts); diff != "" {
			t.Errorf("%s is read as another: %s", name, diff)
		}
	}
	for name, f := range map[string]*session.Fact{"full": full.Call.Fact, "zero": {}} {
		small := encoding.MarshalFact(f, nil)
		if diff := cmp.Diff(encoded(t, f), plain(t, small)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, text := range [][]byte{small, []byte(plain(t, small))} { // the latter is of an earlier version
			got, err := encoding.UnmarshalFact(text, nil)
			if diff := cmp.Diff(f, &got, amounts); diff != "" || err != nil {
				t.Errorf("%s is read as another: %s (%v)", name, diff, err)
			}
		}
		if _, err := encoding.UnmarshalFact(small[:len(small)-1], nil); err == nil {
			t.Errorf("%s: a damaged fact is read", name)
		}
	}
}

// Proves that a text which MarshalCell does not write, such as that of another version or a
// damaged one, is read as encoding/json reads it, or is an error.
func TestForeignAndDamagedCells(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { "seq" : 3 } `, `{"seq":3,"later":[{}]}`, `{"open":[{"proposal":"p","at":1,"seq":2,"later":1}]}`,
		`{"open":null,"was":null,"self":null}`, `{"open":[]}`, `{"text":"\ud83d\ude00\u0000"}`, `{"seq":1,"seq":2}`, `{"seq":0}`,
		`{"self":{"denials":2,"rewinds":[{"after":1,"to":2}]}}`, `{"sum":"max","steps":[{"at":1,"count":2,"sum":"0.5"}]}`,
		`{"call":{"fact":{"seq":1,"kind":"released"}}}`, `{"call":{"fact":null,"done":"failed"}}`, `{"call":7}`, `{"Call":{"fact":null}}`,
		`{"seq":-1}`, `{"seq":1.5}`, `{"seq":"1"}`, `{"seq":1e2}`, `{"at":9223372036854775808}`, `{"sum":"x"}`, `{"sum":1}`, `{"text":1}`,
		`{"open":{}}`, `{"open":[1]}`, `{"self":[]}`, `{"permits":[{"certain":1}]}`, `[]`, `null`, `{"seq":1}x`, `{"seq":1`, "\xff", `{"was":{"later":1}}`,
		`{"back":[{"later":1}],"steps":[{"later":1}]}`, `{"permits":[{"later":1}]}`, `{"self":{"later":1,"rewinds":[{"later":1}]}}`,
	} {
		var want session.Cell
		fails := json.Unmarshal([]byte(text), &want) != nil || want.Call.Fact == nil && want.Call.Done != ""
		got, err := encoding.UnmarshalCell([]byte(text))
		if (err != nil) != fails {
			t.Errorf("%s: error %v", text, err)
			continue
		}
		if fails {
			want = session.Cell{}
		}
		if diff := cmp.Diff(want, got, amounts); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// Proves S38: open and past calls are written as lists, are read from lists and objects, and
// every other form is an error.
func TestCallsInCells(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	calls := []session.Open{
		{Proposal: "01M80W5YKZD9GT31TYM9ZA7HVG", At: 1795325885057, Seq: 13, Args: sum},
		{Proposal: "q\"", At: -1, Seq: 1<<64 - 1, Args: sum, Held: true},
		{Proposal: "upper", Args: strings.ToUpper(sum), Held: true},
		{Proposal: "none"},
		{Proposal: "other", Seq: 1, Args: "ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8"},
	}
	cell := session.Cell{Open: calls, Past: calls[:2], Seq: 3}
	text := plain(t, encoding.MarshalCell(cell))
	const short = `["01M80W5YKZD9GT31TYM9ZA7HVG",1795325885057,13,"ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8"],` +
		`["q\"",-1,18446744073709551615,"ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8",true]`
	if !strings.HasPrefix(string(text), `{"open":[`+short+`,{"proposal":"upper",`) || !strings.HasSuffix(string(text), `,"past":[`+short+`],"seq":3}`) {
		t.Errorf("%s", text)
	}
	for _, text := range []string{string(text), encoded(t, cell)} {
		got, err := encoding.UnmarshalCell([]byte(text))
		if diff := cmp.Diff(cell, got, amounts); diff != "" || err != nil {
			t.Errorf("%s is read as another: %s (%v)", text, diff, err)
		}
	}
	const b64 = `"ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8"`
	for _, list := range []string{
		`[]`, `["p"]`, `["p",1,2]`, `["p",1,2,` + b64 + `,false]`, `["p",1,2,` + b64 + `,true,true]`, `["p",1,2,` + b64 + `,1]`, `["p",1,2,""]`, `["p",1,2,"AAAA"]`,
		`["p",1,2,` + b64[:44] + `="]`, `["p",1,2,` + b64[:43] + `9"]`, `["p",1,2,` + b64[:44] + `AAAA"]`, `["p",1,2,` + b64[:20] + `\n` + b64[20:] + `]`,
		`[1,1,2,` + b64 + `]`, `["p","1",2,` + b64 + `]`, `["p",1,-2,` + b64 + `]`, `[["p",1,2,` + b64 + `]]`, `["p",1,2,null]`,
	} {
		if c, err := encoding.UnmarshalCell([]byte(`{"open":[` + list + `]}`)); err == nil {
			t.Errorf("%s is read as %+v", list, c.Open)
		}
	}
}
