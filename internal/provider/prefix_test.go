package provider_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"pgregory.net/rapid"
)

// Proves S7: CompletePrefix returns the complete parameters of a truncated call.
func TestCompletePrefix(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":[1,{"c":2}]}`:   `{"a":1,"b":[1,{"c":2}]}`,
		`{"path":".env","content`:   `{"path":".env"}`,
		`{"path":".env","content":`: `{"path":".env"}`,
		`{"path":".env" , "n":12`:   `{"path":".env"}`,
		`{"path":".env","n":12 `:    `{"path":".env","n":12}`,
		`{"path":".env","n":12,`:    `{"path":".env","n":12}`,
		`{"a":[1,{"b":"x"`:          `{}`,
		`{"a":{"b":",  "},"c":tr`:   `{"a":{"b":",  "}}`,
		`{"a":",  ","b":"`:          `{"a":",  "}`,
		`{"a":1,"a":2}`:             `{"a":1}`,
		`{"a":1]`:                   `{}`,
		`{"a":1,]`:                  `{"a":1}`,
		`{"a":"x"}}`:                `{"a":"x"}`,
		`{"a":1}5`:                  `{"a":1}`,
		`{"a":{}} x`:                `{"a":{}}`,
		`{}{`:                       `{}`,
		`[1,2`:                      `{}`,
		``:                          `{}`,
		`nonsense`:                  `{}`,
	} {
		if got := string(provider.CompletePrefix([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// CompletePrefix always returns an object, which is a part of the text if the text is
// valid.
func TestCompletePrefixIsAnObject(t *testing.T) {
	const whole = `{"path":"src/\u00e9","n":-1.5e3,"list":[1,"}",{"a":null}],"flag":true,"":{"x":"]"}}`
	property.Check(t, func(t *rapid.T) {
		text := []byte(whole[:rapid.IntRange(0, len(whole)).Draw(t, "cut")])
		if rapid.Bool().Draw(t, "broken") && len(text) > 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`{}[]",:x1 `)).Draw(t, "byte")
		}
		got := provider.CompletePrefix(text)
		v, err := jsonstream.Parse(got, jsonstream.Options{ObjectRoot: true})
		if err != nil || v.Kind() != jsonstream.Object {
			t.Fatalf("%s becomes %s", text, got)
		}
	})
}
