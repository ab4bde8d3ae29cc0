package jsonstream_test

import (
	"encoding/json"
	"testing"

	"github.com/stopgate/stopgate/jsonstream"
)

// Proves A7, A8, A24: where a string ends, by hand; what no parser accepts has no
// end.
func TestStringEnd(t *testing.T) {
	for _, c := range []struct {
		text    string
		n       int
		escaped bool
	}{
		{`""`, 2, false}, {`"a"b"`, 3, false}, {`"a\"b", x`, 6, true}, {`"größe"`, 9, false}, {`"\ud83d\ude00"`, 14, true},
		{`"0123456789012345678901234567890123456789"`, 42, false},
		{"", 0, false}, {`a"`, 0, false}, {`"`, 0, false}, {`"a`, 0, false}, {`"\"`, 0, false}, {`"\x"`, 0, false}, {`"\ud83d"`, 0, false}, {`"\ude00"`, 0, false},
		{"\"\n\"", 0, false}, {"\"\xFF\"", 0, false}, {"\"\xC0\xAE\"", 0, false},
	} {
		n, escaped := jsonstream.ScanString([]byte(c.text))
		if n != c.n || escaped != c.escaped {
			t.Errorf("%q: %d %v, want %d %v", c.text, n, escaped, c.n, c.escaped)
		}
		if n == 0 {
			continue
		}
		var want string
		if err := json.Unmarshal([]byte(c.text[:n]), &want); err != nil {
			t.Fatal(err)
		}
		if got := string(jsonstream.AppendUnescaped(nil, []byte(c.text[1:n-1]))); got != want {
			t.Errorf("%q: %q, want %q", c.text, got, want)
		}
	}
}
