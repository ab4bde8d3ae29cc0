package wire_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// round is a stream that writes what it was called with.
type round struct {
	wire.Stream
	err error
}

func (r *round) Event(dst []byte, _ *sse.Event) ([]byte, wire.Need, error) {
	return append(dst, "data: event\n\n"...), wire.Resolve, r.err
}

func (r *round) Release(dst []byte, outcomes []wire.Release, spill wire.Spill) ([]byte, error) {
	if spill != nil {
		return dst, errors.New("what is not rewritten yet is spilt")
	}
	return append(dst, strings.Repeat("data: released\n\n", len(outcomes))...), r.err
}

func (r *round) EOF(dst, tail []byte) ([]byte, wire.Need, error) {
	return append(append(dst, "data: "...), append(tail, "\n\n"...)...), wire.Finished, r.err
}

// talker is one that can also say something.
type talker struct {
	round
	said string
}

func (t *talker) Say(text string) { t.said += text }

func (t *talker) Interlude(dst []byte, outcomes []wire.Release) []byte {
	return append(dst, strings.Repeat("data: between\n\n", len(outcomes))...)
}

// Proves I24, X9: whatever a later round of an answer writes goes through the same hands, in
// whichever way it is written, and its errors and needs arrive.
func TestJoined(t *testing.T) {
	each := func(dst []byte, ev *sse.Event) []byte { return append(append(append(dst, '<'), ev.Data...), '>') }
	for _, want := range []error{nil, errors.New("broken")} {
		in := &talker{round: round{err: want}}
		j := &wire.Joined{Stream: in, Each: each}
		if out, need, err := j.Event([]byte("x"), nil); string(out) != "x<event>" || need != wire.Resolve || err != want {
			t.Errorf("event: %q %v %v", out, need, err)
		}
		if out, need, err := j.EOF([]byte("x"), []byte("tail")); string(out) != "x<tail>" || need != wire.Finished || err != want {
			t.Errorf("end: %q %v %v", out, need, err)
		}
		if out, err := j.Release([]byte("x"), make([]wire.Release, 2), nil); string(out) != "x<released><released>" || err != want {
			t.Errorf("release: %q %v", out, err)
		}
		if out := j.Interlude([]byte("x"), make([]wire.Release, 2)); string(out) != "x<between><between>" {
			t.Errorf("interlude: %q", out)
		}
		if j.Say("a"); in.said != "a" {
			t.Errorf("%q was said", in.said)
		}
	}
	mute := &wire.Joined{Stream: new(round), Each: each}
	mute.Say("a")
	if out := mute.Interlude([]byte("x"), make([]wire.Release, 2)); string(out) != "x" {
		t.Errorf("interlude of a stream without one: %q", out)
	}
	// Long output is handed over on the way, rewritten.
	var spilt bytes.Buffer
	n := wire.SpillSize/len("<released>") + 1
	out, err := mute.Release(nil, make([]wire.Release, n), func(p []byte) error { spilt.Write(p); return nil })
	if all := spilt.String() + string(out); err != nil || spilt.Len() == 0 || all != strings.Repeat("<released>", n) {
		t.Errorf("%d bytes, %d of them spilt: %v", len(all), spilt.Len(), err)
	}
}
