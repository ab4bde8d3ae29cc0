package openaichat_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/wire"
	"github.com/stopgate/stopgate/internal/wire/openaichat"
)

type (
	gate = codec.Gate
	run  = codec.Run
)

func newGate(t testing.TB, deny ...string) *gate { return codec.NewGate(t, deny...) }

// play passes the chunks of a stream through the codec.
func play(t testing.TB, g *gate, req *wire.Request, o wire.Options, pieces ...string) run {
	t.Helper()
	return codec.Play(t, func(g *gate, o wire.Options, inFull bool) wire.Stream {
		st := openaichat.Dialect{}.Stream(req, g, o)
		if inFull {
			openaichat.ReadInFull(st)
		}
		return st
	}, g, o, pieces...)
}

// request declares the tools of the test cases.
func request(t testing.TB, extra string) *wire.Request {
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
