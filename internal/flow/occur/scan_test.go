package occur

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// list returns the tokens of a text: words as they are, marks, and atoms with their kind.
func list(text string) (sequence string, atoms, loose []string) {
	var words []string
	Scan([]byte(text), func(t Token) {
		switch value := fmt.Sprintf("%s:%s", t.Kind, t.Value); {
		case t.Loose:
			loose = append(loose, value)
		case t.Kind == flow.Text:
			words = append(words, string(t.Value))
		case t.Kind != flow.ID:
			atoms = append(atoms, value)
		}
	})
	return strings.Join(words, " "), atoms, loose
}

func TestWordsAndMarks(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		" Hello,  World!\n":       "hello , world !",
		"rm -rf --x":              "rm - rf -- x",
		"snake_case ÄÖ straße":    "snake _ case äö strasse",
		"ｆｕｌｌ　width":              "full width",
		"北京 ab北京":                 "北 京 ab 北 京",
		"“quoted” – it’s":         "\" quoted \" - it ' s",
		"e\u0301 \u00a0x\u2028y":  "é x y",
		"zero\u200bwidth":         "zero\u200bwidth",
		"==============":          "========",
		"Привет, МИР":             "привет , мир",
		"a\xffb":                  "a\xffb",
		"\u0627\u0644\u0633 ١٢٣٤": "\u0627\u0644\u0633 ١٢٣٤",
	} {
		if got, _, _ := list(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
