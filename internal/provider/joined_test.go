package provider_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// round is a stream that writes the names of the methods that are called.
type round struct {
	provider.Stream
	err error
}

func (r *round) Event(dst []byte, _ *sse.Event) ([]byte, provider.Need, error) {
	return append(dst, "data: event\n\n"...), provider.Resolve, r.err
}

func (r *round) Release(dst []byte, outcomes []provider.CallOutcome, flush provider.Flush) ([]byte, error) {
	if flush != nil {
		return dst, errors.New("what is not rewritten yet is spilt")
	}
	return append(dst, strings.Repeat("data: released\n\n", len(outcomes))...), r.err
}

func (r *round) EOF(dst, tail []byte) ([]byte, provider.Need, error) {
	return append(append(dst, "data: "...), append(tail, "\n\n"...)...), provider.Finished, r.err
}

// talker is a round that also implements TextAdder and RoundCloser.
type talker struct {
	round
	said string
}

func (t *talker) AddText(_ int, text string) { t.said += text }

func (t *talker) CloseRound(dst []byte, outcomes []provider.CallOutcome) []byte {
	return append(dst, strings.Repeat("data: between\n\n", len(outcomes))...)
}

// Proves I24, X9: all output of a later round passes through RewriteEvent.
func TestJoinedStreamRewritesEveryEvent(t *testing.T) {
	each := func(dst []byte, ev *sse.Event) []byte { return append(append(append(dst, '<'), ev.Data...), '>') }
	for _, want := range []error{nil, errors.New("broken")} {
		in := &talker{round: round{err: want}}
		j := &provider.JoinedStream{Stream: in, RewriteEvent: each}
		if out, need, err := j.Event([]byte("x"), nil); string(out) != "x<event>" || need != provider.Resolve || err != want {
			t.Errorf("event: %q %v %v", out, need, err)
		}
		if out, need, err := j.EOF([]byte("x"), []byte("tail")); string(out) != "x<tail>" || need != provider.Finished || err != want {
			t.Errorf("end: %q %v %v", out, need, err)
		}
		if out, err := j.Release([]byte("x"), make([]provider.CallOutcome, 2), nil); string(out) != "x<released><released>" || err != want {
			t.Errorf("release: %q %v", out, err)
		}
		if out := j.CloseRound([]byte("x"), make([]provider.CallOutcome, 2)); string(out) != "x<between><between>" {
			t.Errorf("interlude: %q", out)
		}
		if j.AddText(0, "a"); in.said != "a" {
			t.Errorf("%q was said", in.said)
		}
	}
	mute := &provider.JoinedStream{Stream: new(round), RewriteEvent: each}
	mute.AddText(0, "a")
	if out := mute.CloseRound([]byte("x"), make([]provider.CallOutcome, 2)); string(out) != "x" {
		t.Errorf("interlude of a stream without one: %q", out)
	}
	// Long output is rewritten and flushed during the release.
	var spilt bytes.Buffer
	n := provider.FlushSize/len("<released>") + 1
	out, err := mute.Release(nil, make([]provider.CallOutcome, n), func(p []byte) error { spilt.Write(p); return nil })
	if all := spilt.String() + string(out); err != nil || spilt.Len() == 0 || all != strings.Repeat("<released>", n) {
		t.Errorf("%d bytes, %d of them spilt: %v", len(all), spilt.Len(), err)
	}
}
