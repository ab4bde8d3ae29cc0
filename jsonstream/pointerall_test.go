package jsonstream_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/jsonstream"
)

// Proves Q1: "*" is every element of an array, a missing member is no value, and a pointer into a
// scalar reports that it has not seen everything.
func TestPointerAll(t *testing.T) {
	for _, c := range []struct {
		pointer, text, want string
		complete            bool
	}{
		{"", `{"a":1}`, `{"a":1}`, true},
		{"/a", `{"a":1}`, `1`, true},
		{"/b", `{"a":1}`, ``, true},
		{"/a/*", `{"a":[1,2]}`, `1 2`, true},
		{"/a/*/b", `{"a":[{"b":1},{"b":[2]}]}`, `1 [2]`, true},
		{"/a/*/b", `{"a":[{"b":1},{}]}`, `1`, false},
		{"/a/*", `{"a":[]}`, ``, false},
		{"/a/0", `{"a":[1]}`, ``, false},
		{"/a/b", `{"a":7}`, ``, false},
		{"/a/*", `{"a":{"*":3}}`, `3`, true},
	} {
		v, err := jsonstream.Parse([]byte(c.text), jsonstream.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := jsonstream.ParsePointer(c.pointer)
		if err != nil {
			t.Fatal(err)
		}
		values, complete := p.All(nil, v)
		var texts []string
		for _, v := range values {
			texts = append(texts, string(v.Raw()))
		}
		if got := strings.Join(texts, " "); got != c.want || complete != c.complete {
			t.Errorf("%s of %s: %q %t", c.pointer, c.text, got, complete)
		}
	}
	if values, complete := (jsonstream.Pointer{"a"}).All(nil, jsonstream.Value{}); values != nil || !complete {
		t.Error("no value has a part")
	}
}
