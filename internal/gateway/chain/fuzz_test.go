package chain_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// FuzzUnchanged checks that a policy which forwards every text leaves every stream as it is
// forwarded without policies, whatever the upstream writes and however it is split. Lone CR, NUL
// and byte order marks, which are framed anew, are not compared.
//
// Proves V3-12, W1, L2.
func FuzzUnchanged(f *testing.F) {
	for dialect, body := range streams {
		f.Add(body, dialect, 7)
	}
	f.Add(`data: {"choices":[{"index":0,"delta":{"content":"a"},"message":{"content":"a"}},{"index":"0","text":1}]}`+"\n\ndata: [DONE]\n\n", "openai-chat", 1)
	f.Add(`data: {"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"\ud83d"}}`+"\n\n", "anthropic", 3)
	f.Add(`data: {"type":"response.output_item.done","output_index":0,"item":{"content":[{"type":"output_text","text":"x"}]}}`+"\n\n"+
		`data: {"type":"response.completed","response":{"output":[{"content":[{"type":"output_text","text":"x"}]}],"output_text":"x"}}`+"\n\n", "openai-responses", 5)
	f.Add(strings.Replace(streams["anthropic"], "event: m", "m", 1), "anthropic", 49)
	f.Fuzz(func(t *testing.T, body, dialect string, size int) {
		if strings.ContainsAny(body, "\r\x00\ufeff") || streams[dialect] == "" {
			return
		}
		c, err := chain.New(forward{"a"})
		if err != nil {
			t.Fatal(err)
		}
		run := c.Begin(chain.Setup{Exchange: events.Exchange{Dialect: dialect}})
		got, err := io.ReadAll(run.Reader(t.Context(), &cutter{strings.NewReader(body), max(size%64, 1)}))
		if err != nil {
			t.Fatal(err)
		}
		if want := framed(t, body); !bytes.Equal(got, want) && !repeatsItself(body, dialect) {
			t.Errorf("%q became %q, want %q", body, got, want)
		}
	})
}

// framed returns a stream as it is forwarded: lines that clients ignore are between events or
// removed.
func framed(t *testing.T, body string) (out []byte) {
	d := sse.NewDecoder(nil, sse.Limits{})
	d.Feed([]byte(body))
	var ev sse.Event
	for {
		ok, err := d.Next(&ev)
		if err != nil {
			t.Fatal(err) // reading it with policies returned no error
		}
		if !ok {
			return append(out, d.Tail()...)
		}
		out = ev.AppendTo(out)
	}
}

// repeatsItself reports whether copies of a text in a stream may differ: then the client gets the
// first one in all of them.
func repeatsItself(body, dialect string) bool {
	return dialect == "openai-responses" || dialect == "openai-chat" && strings.Contains(body, `message`)
}
