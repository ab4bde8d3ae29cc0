package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// BenchmarkResults adds 1 MiB of results of several forms to the index of a session.
func BenchmarkResults(b *testing.B) {
	var json, plain, page strings.Builder
	json.WriteByte('[')
	for i := 0; json.Len() < 10<<10; i++ {
		fmt.Fprintf(&json, `{"sender":"user%d@example.com","body":"Please have a look at item number %d of the list, thank you","n":%d},`, i, i, i*37)
	}
	text := strings.TrimSuffix(json.String(), ",") + "]"
	for i := 0; plain.Len() < 10<<10; i++ {
		fmt.Fprintf(&plain, "line %d of a file with some words and /a/path/to/%d in it\n", i, i)
	}
	for i := 0; page.Len() < 10<<10; i++ {
		fmt.Fprintf(&page, "<div class=\"row\"><p>Text of row %d with <a href=\"https://example.com/%d\">a link</a></p></div>\n", i, i)
	}
	for name, data := range map[string]string{"json": text, "plain": plain.String(), "page": page.String()} {
		for _, wrote := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s,wrote=%t", name, wrote), func(b *testing.B) {
				b.SetBytes(1 << 20)
				for range b.N {
					w := live(b, mail+"[sources.s]\ntool = \"get\"\n")
					if wrote {
						w.Call(w.index, "send_email", []byte(`{"to":"somebody@example.com","body":"A letter of some words about nothing in particular"}`))
					}
					for i := range (1 << 20) / len(data) {
						w.Result(w.index, &flow.Result{Tool: "get", Call: stopgate.CallID(fmt.Sprint(i)), Args: []byte(`{"a":"b"}`), Data: []byte(data), Released: true})
					}
				}
			})
		}
	}
}
