package anthropic_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/anthropic"
	"github.com/stopgate/stopgate/wire/sse"
)

type allowAll struct {
	args map[int][]byte
	ends map[int]stopgate.End
	bad  map[int]stopgate.Code
}

func (a *allowAll) Event(e *stopgate.Event) {
	switch e.Kind {
	case stopgate.CallStarted:
		a.args[e.Call] = nil
	case stopgate.CallArguments:
		a.args[e.Call] = append(a.args[e.Call], e.Args...)
	case stopgate.CallEnded:
		a.ends[e.Call] = e.End
	case stopgate.CallRefused:
		a.bad[e.Call] = e.Code
	}
}

func TestCorpusStreams(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "anthropic-messages"), "*.sse"))
	calls, errs := 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sink := &allowAll{map[int][]byte{}, map[int]stopgate.End{}, map[int]stopgate.Code{}}
		st := anthropic.Dialect{}.Stream(nil, sink, wire.Options{})
		dec := sse.NewDecoder(nil, sse.Limits{})
		dec.Feed(text)
		var out []byte
		var ev sse.Event
		for {
			ok, err := dec.Next(&ev)
			if err != nil || !ok {
				break
			}
			var need wire.Need
			out, need, err = st.Event(out, &ev)
			if err != nil {
				errs++
				t.Logf("%s: %v", filepath.Base(f), err)
				break
			}
			if need == wire.Resolve {
				var rel []wire.Release
				for i, a := range sink.args {
					calls++
					if sink.ends[i] != stopgate.Ended {
						t.Logf("%s: call %d ends %v %v", filepath.Base(f), i, sink.ends[i], sink.bad[i])
					}
					rel = append(rel, wire.Release{Call: i, Allowed: true, Args: a})
				}
				out, err = st.Release(out, rel, nil)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(sink.args) == 0 && !bytes.Equal(out, text) {
			t.Logf("%s: %d bytes in, %d out", filepath.Base(f), len(text), len(out))
		}
	}
	t.Logf("%d streams, %d calls, %d errors", len(files), calls, errs)
}
