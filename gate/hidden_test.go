package gate_test

import (
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves G2-19, H17: what a pointer names is not shown, in any spelling of its names.
func TestHidden(t *testing.T) {
	const text = `{"a":{"Token":"x","b":[{"token":"y"},{"c":1e3}]},"list":["p","q"]}`
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		pointers []string
		want     string
	}{
		{"none", nil, text},
		{"a member", []string{"/a/token"}, `{"a":{"Token":"[redacted]","b":[{"token":"y"},{"c":1e3}]},"list":["p","q"]}`},
		{"at any depth", []string{"/**/token"}, `{"a":{"Token":"[redacted]","b":[{"token":"[redacted]"},{"c":1e3}]},"list":["p","q"]}`},
		{"every element", []string{"/list/*"}, `{"a":{"Token":"x","b":[{"token":"y"},{"c":1e3}]},"list":["[redacted]","[redacted]"]}`},
		{"everything below", []string{"/a/**"}, `{"a":"[redacted]","list":["p","q"]}`},
		{"everything", []string{"/**"}, `"[redacted]"`},
		{"two depths", []string{"/**/**"}, `{"a":"[redacted]","list":"[redacted]"}`},
		{"no pointer", []string{"token"}, `"[redacted]"`},
		{"several", []string{"/a/b/*/c", "/**/q", "/list"}, `{"a":{"Token":"x","b":[{"token":"y"},{"c":"[redacted]"}]},"list":"[redacted]"}`},
		{"in a text that is JSON", []string{"/**/secret"}, text},
	} {
		if got := string(gate.Hide(c.pointers...).Append(nil, v)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Proves G2-19: a result is a text that holds JSON; what is hidden is hidden there too.
func TestHiddenInTexts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an object", `{"text":"{\"a\":{\"token\":1},\"b\":\"x\"}"}`, `{"text":"{\"a\":{\"token\":\"[redacted]\"},\"b\":\"x\"}"}`},
		{"a list", `["[{\"TOKEN\":1}]"]`, `["[{\"TOKEN\":\"[redacted]\"}]"]`},
		{"in two texts", `{"t":"[\"{\\\"token\\\":1}\"]"}`, `{"t":"[\"{\\\"token\\\":\\\"[redacted]\\\"}\"]"}`},
		{"escaped as it came", `{"text":"{ \u0022a\u0022: 1 }"}`, `{"text":"{ \u0022a\u0022: 1 }"}`},
		{"a name twice", `{"text":"{\"token\":1,\"token\":2}"}`, `{"text":"{\"token\":\"[redacted]\",\"token\":\"[redacted]\"}"}`},
		{"white space before it", `{"text":" \n{\"token\":1}"}`, `{"text":"{\"token\":\"[redacted]\"}"}`},
		{"not JSON", `{"text":"{token: 1}"}`, `{"text":"{token: 1}"}`},
	} {
		v, err := jsonstream.Parse([]byte(c.text), jsonstream.Options{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := string(gate.Hide("/**/token").Append(nil, v)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
