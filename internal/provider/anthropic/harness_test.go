package anthropic_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

type (
	gate   = codec.Gate
	judged = codec.Judged
	run    = codec.Run
)

func newGate(t testing.TB, deny ...string) *gate { return codec.NewGate(t, deny...) }

// play passes the chunks of a stream through the codec.
func play(t testing.TB, g *gate, req *provider.Request, o provider.Options, pieces ...string) run {
	t.Helper()
	return codec.Play(t, func(g *gate, o provider.Options, inFull bool) provider.Stream {
		st := anthropic.Dialect{}.Stream(req, g, o)
		if inFull {
			anthropic.ReadInFull(st)
		}
		return st
	}, g, o, pieces...)
}

// request declares the tools of the test cases.
func request(t testing.TB) *provider.Request {
	t.Helper()
	body := `{"model":"m","stream":true,"max_tokens":1024,"messages":[],"tools":[`
	for i, name := range []string{"a", "b", "c"} {
		if i > 0 {
			body += ","
		}
		body += `{"name":"` + name + `","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`
	}
	r, err := anthropic.Dialect{}.Request([]byte(body + `,{"type":"bash_29990101","name":"bash"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
