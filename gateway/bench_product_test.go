package gateway_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// productGateway returns a gateway as `stopgate init` and `stopgate up` create it: the starter for
// coding, and an SQLite store in which every row is durable before a call is released. Its argument
// is the provider's address and a directory.
func productGateway(arg string) http.Handler {
	target, dir, _ := strings.Cut(arg, " ")
	files, err := config.StarterFor("coding")
	if err != nil {
		panic(err)
	}
	program, found := prove.Compile([]policy.Source{{Name: config.FileName, Text: files[0].Text, Trusted: true}}, policy.Options{Known: knowntools.Recognise})
	if found.HasErrors() {
		panic(found)
	}
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "store.db"), sqlite.Options{})
	if err != nil {
		panic(err)
	}
	g, err := gate.New(program, gate.WithStore(store), gate.WithRecorder(store.Recorder()))
	if err != nil {
		panic(err)
	}
	gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings(), Upstreams: []gateway.Upstream{{ID: "test", BaseURL: target}}})
	if err != nil {
		panic(err)
	}
	return gw
}

// BenchmarkProduct is the flood through the gateway in its default configuration, compared with
// ReverseProxy: a call of 64 KiB in each dialect, streamed, and an unstreamed body with one call.
func BenchmarkProduct(b *testing.B) {
	for _, c := range []struct {
		name, script string
		streams      int
	}{{"chat", "calls", 64}, {"responses", "responses", 64}, {"messages", "messages", 64}, {"text", "text", 64}, {"body=627B", "small", 256}, {"body=70KB", "large", 256}} {
		b.Run(c.name, func(b *testing.B) {
			source := part{url: start(b, "provider", c.script)}
			proxy, gated := newChain(b, start(b, "proxy", source.url)), newChain(b, start(b, "product", source.url+" "+b.TempDir()))
			compare(b, source, proxy.speak(c.script), gated.speak(c.script), 8, c.streams)
		})
	}
}
