package wire_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"pgregory.net/rapid"
)

// Proves S7: of a call that was cut, the parameters that were complete.
func TestComplete(t *testing.T) {
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
		if got := string(wire.Complete([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Whatever was cut, what is left is an object, and of a valid text a part of it.
func TestCompleteIsAnObject(t *testing.T) {
	const whole = `{"path":"src/\u00e9","n":-1.5e3,"list":[1,"}",{"a":null}],"flag":true,"":{"x":"]"}}`
	property.Check(t, func(t *rapid.T) {
		text := []byte(whole[:rapid.IntRange(0, len(whole)).Draw(t, "cut")])
		if rapid.Bool().Draw(t, "broken") && len(text) > 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`{}[]",:x1 `)).Draw(t, "byte")
		}
		got := wire.Complete(text)
		v, err := jsonstream.Parse(got, jsonstream.Options{ObjectRoot: true})
		if err != nil || v.Kind() != jsonstream.Object {
			t.Fatalf("%s becomes %s", text, got)
		}
	})
}
