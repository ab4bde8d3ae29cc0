package gemini_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// play passes the chunks of a stream through the codec.
func play(t testing.TB, g *codec.Gate, req *provider.Request, o provider.Options, pieces ...string) codec.Run {
	t.Helper()
	return codec.Play(t, func(g *codec.Gate, o provider.Options, _ bool) provider.Stream {
		return gemini.Dialect{}.Stream(req, g, o)
	}, g, o, pieces...)
}

// request declares the tools of the test cases.
func request(t testing.TB) *provider.Request {
	t.Helper()
	r, err := gemini.Dialect{}.Request([]byte(`{"contents":[],"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"},{"name":"c"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	gemini.ReadPath(r, "/v1beta/models/m:streamGenerateContent")
	return r
}
