package openaichat_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

type (
	gate = codec.Gate
	run  = codec.Run
)

func newGate(t testing.TB, deny ...string) *gate { return codec.NewGate(t, deny...) }

// play passes the chunks of a stream through the codec.
func play(t testing.TB, g *gate, req *provider.Request, o provider.Options, pieces ...string) run {
	t.Helper()
	return codec.Play(t, func(g *gate, o provider.Options, inFull bool) provider.Stream {
		st := openaichat.Dialect{}.Stream(req, g, o)
		if inFull {
			openaichat.ReadInFull(st)
		}
		return st
	}, g, o, pieces...)
}

// request declares the tools of the test cases.
func request(t testing.TB, extra string) *provider.Request {
	t.Helper()
	body := `{"model":"m","stream":true` + extra + `,"tools":[`
	for i, name := range []string{"a", "b", "c"} {
		if i > 0 {
			body += ","
		}
		body += `{"type":"function","function":{"name":"` + name + `","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`
	}
	r, err := openaichat.Dialect{}.Request([]byte(body + `,{"type":"custom","custom":{"name":"free"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
