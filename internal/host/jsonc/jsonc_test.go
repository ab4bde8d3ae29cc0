package jsonc_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/host/jsonc"
)

// Comments and trailing commas become blanks, strings and all offsets stay.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:                         `{"a":1}`,
		`{"a":"// no","b":"\\",} // yes`:  `{"a":"// no","b":"\\" }       `,
		"{ // one\n\"a\": /* two\n */ 1}": "{       \n\"a\":       \n    1}",
		`[1,/*x*/]`:                       `[1      ]`,
		`["\"//",1 ,  ]`:                  `["\"//",1    ]`,
		`[1,,]`:                           `[1, ]`,
		`/* open`:                         `       `,
		`"open`:                           `"open`,
		`/`:                               `/`,
	} {
		got := string(jsonc.Plain([]byte(text)))
		if got != want || len(got) != len(text) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
