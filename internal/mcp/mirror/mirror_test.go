package mirror_test

import (
	"maps"
	"testing"

	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"pgregory.net/rapid"
)

func value(t *testing.T, text string) jsonstream.Value {
	t.Helper()
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const schema = `{"properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"n":{"type":"integer","x-mcp-header":"N"},
	"plain":{"type":"string"},
	"odd":true,
	"o":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}`

// The headers of a call are the values of the marked arguments.
func TestHeaders(t *testing.T) {
	marks, bad := mirror.ParseSchema(value(t, schema))
	if bad != "" {
		t.Fatal(bad)
	}
	for _, test := range []struct {
		name, args string
		want       map[string]string
	}{
		{"all", `{"region":"Berlin","n":7,"plain":"x","o":{"b":false}}`, map[string]string{"Mcp-Param-Region": "Berlin", "Mcp-Param-N": "7", "Mcp-Param-B": "false"}},
		{"a text that no header can hold", `{"region":"M\u00fcnchen"}`, map[string]string{"Mcp-Param-Region": "=?base64?TcO8bmNoZW4=?="}},
		{"a text with a header of its own", `{"region":"x\r\nEvil: y"}`, map[string]string{"Mcp-Param-Region": "=?base64?eA0KRXZpbDogeQ==?="}},
		{"a text that looks encoded", `{"region":"=?base64?eA==?="}`, map[string]string{"Mcp-Param-Region": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="}},
		{"a number with a point", `{"n":7.0,"o":{"b":true}}`, map[string]string{"Mcp-Param-N": "7", "Mcp-Param-B": "true"}},
		{"nothing that a header says", `{"region":null,"n":1.5,"o":[]}`, nil},
		{"no object", `[]`, nil},
		{"no JSON", `{`, nil},
	} {
		if got := marks.Headers([]byte(test.args)); !maps.Equal(got, test.want) {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	if got := mirror.Params(nil).Headers([]byte(`{"region":"x"}`)); got != nil {
		t.Errorf("%q", got)
	}
}

// Invalid marks are ignored, with a reason.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"properties":{"a":{"type":"string","x-mcp-header":"no good"}}}`:                                                         "x-mcp-header is not a valid header name",
		`{"properties":{"a":{"type":"string","x-mcp-header":7}}}`:                                                                 "x-mcp-header is not a valid header name",
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                                               "x-mcp-header is set on a property that is not a string, integer or boolean",
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"o":{"properties":{"b":{"type":"string","x-mcp-header":"a"}}}}}`: "two arguments have the same x-mcp-header",
		`{"properties":[]}`: "",
		`{}`:                "",
		`true`:              "",
	} {
		if marks, bad := mirror.ParseSchema(value(t, text)); bad != want || len(marks) != 0 {
			t.Errorf("%s: %v %q", text, marks, bad)
		}
	}
}

// A header that differs from its argument, is unexpected or is missing is detected.
func TestCompare(t *testing.T) {
	marks, _ := mirror.ParseSchema(value(t, schema))
	args := value(t, `{"region":"Berlin","n":7,"o":{"b":true}}`)
	right := map[string]string{"Mcp-Param-Region": "Berlin", "Mcp-Param-N": "7", "Mcp-Param-B": "true"}
	compare := func(args jsonstream.Value, name, said string) string {
		all := maps.Clone(right)
		if all[name] = said; said == "" {
			delete(all, name)
		}
		return marks.Compare(func(name string) (string, bool) { v, ok := all[name]; return v, ok }, args)
	}
	for _, test := range [][3]string{
		{"", "", ""},
		{"Mcp-Param-N", "7.0", ""},
		{"Mcp-Param-Region", "=?base64?QmVybGlu?=", ""},
		{"Mcp-Param-Region", "berlin", "Mcp-Param-Region differs from its argument"},
		{"Mcp-Param-Region", "=?base64?***?=", "Mcp-Param-Region differs from its argument"},
		{"Mcp-Param-N", "8", "Mcp-Param-N differs from its argument"},
		{"Mcp-Param-N", "7x", "Mcp-Param-N differs from its argument"},
		{"Mcp-Param-B", "", "Mcp-Param-B is missing"},
	} {
		if got := compare(args, test[0], test[1]); got != test[2] {
			t.Errorf("%v: %q", test, got)
		}
	}
	if got := compare(value(t, `{"region":"Berlin","n":7,"o":{"b":null}}`), "", ""); got != "Mcp-Param-B is set, but its argument is absent" {
		t.Error(got)
	}
	if got := compare(value(t, `{"region":"Berlin","n":1.5,"o":{"b":true}}`), "Mcp-Param-N", "1.5"); got == "" {
		t.Error("what no header says is compared")
	}
	if got := compare(jsonstream.Value{}, "", ""); got == "" {
		t.Error("no arguments")
	}
}

// Every text is restored, and is valid in a header.
func TestEncodeIsReversible(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.String(), rapid.StringMatching(`=\?base64\?[A-Za-z=?]{0,6}\?=`), rapid.StringMatching(`[ -~\t\r\n]{0,8}`)).Draw(t, "text")
		said := mirror.Encode(want)
		for i := range len(said) {
			if said[i] < ' ' || said[i] > '~' {
				t.Fatalf("%q", said)
			}
		}
		if got, ok := mirror.Decode(said); !ok || got != want {
			t.Fatalf("%q: %q %v", said, got, ok)
		}
	})
}
