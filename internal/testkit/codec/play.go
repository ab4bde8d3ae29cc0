package codec

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// Run is one pass of a stream through a codec.
type Run struct {
	Out   string // what the client got
	Gate  *Gate
	Err   error // the StreamError that ended it, if one did
	Notes provider.Notes
	Ended bool
}

// Open begins a stream for a gate; inFull makes it read every event in full.
type Open func(g *Gate, o provider.Options, inFull bool) provider.Stream

// Play sends the pieces through a codec as a gateway would: without the short way for
// events that repeat the one before them, with it for one event after the other, and
// with it for all events at once.
func Play(t testing.TB, open Open, g *Gate, o provider.Options, pieces ...string) Run {
	t.Helper()
	play := func(g *Gate, how way) Run {
		t.Helper()
		return playOnce(t, open, g, o, how, pieces...)
	}
	another := func() *Gate {
		return &Gate{t: t, deny: g.deny, DenyAll: g.DenyAll, DenyCalls: g.DenyCalls, ended: map[int]stopgate.End{}}
	}
	full, single := another(), another()
	want, one := play(full, inFull), play(single, oneByOne)
	got := play(g, atOnce)
	for _, other := range []struct {
		Run
		way string
	}{{one, "one by one"}, {got, "at once"}} {
		if log := other.Gate.Log.String(); other.Out != want.Out || log != full.Log.String() || other.Notes.Dropped != want.Notes.Dropped || other.Notes.Response.Tokens != want.Notes.Response.Tokens {
			t.Fatalf("the short way %s gives\n%s\n%s\nin full it is\n%s\n%s", other.way, other.Out, log, want.Out, full.Log.String())
		}
	}
	return got
}

// way is how a stream is read.
type way int

const (
	inFull way = iota
	oneByOne
	atOnce
)

func playOnce(t testing.TB, open Open, g *Gate, o provider.Options, how way, pieces ...string) Run {
	t.Helper()
	o = MadeUpIDs(o)
	st := open(g, o, how == inFull)
	repeater, _ := st.(provider.BatchStream)
	d := sse.NewDecoder(nil, sse.Limits{})
	var out []byte
	var ev sse.Event
	r := Run{Gate: g}
	finish := func() Run {
		r.Out, r.Notes = string(out), st.Notes()
		if n := st.Pending(); n != 0 {
			t.Errorf("%d calls are still pending at the end", n)
		}
		for i, j := range g.Calls {
			if !j.Over {
				t.Errorf("call %d never ended", i)
			}
		}
		if g.twice {
			t.Error("a choice ended twice")
		}
		return r
	}
	abort := func(err error) Run {
		e, ok := err.(*provider.StreamError)
		if !ok {
			t.Fatalf("error %v is no *provider.StreamError", err)
		}
		r.Err = e
		out = st.Abort(out, e.Code, e.Message)
		return finish()
	}
	for _, p := range pieces {
		d.Feed([]byte(p))
		for {
			for repeater != nil && how == atOnce {
				var n int
				if out, n, _ = repeater.EventBatch(out, d.Rest()); n == 0 {
					break
				}
				d.Skip(n)
			}
			ok, err := d.Next(&ev)
			if err != nil {
				return abort(&provider.StreamError{Code: stopgate.CodeLimitExceeded, Message: "limit"})
			}
			if !ok {
				break
			}
			var need provider.Need
			out, need, err = st.Event(out, &ev)
			if err != nil {
				return abort(err)
			}
			if need == provider.Resolve {
				if out, err = st.Release(out, g.Outcomes(false), nil); err != nil {
					t.Fatal(err)
				}
			}
			r.Ended = r.Ended || need == provider.Finished
		}
	}
	out, need, err := st.EOF(out, d.Tail())
	if err != nil {
		return abort(err)
	}
	if need == provider.Resolve {
		if out, err = st.Release(out, g.Outcomes(false), nil); err != nil {
			t.Fatal(err)
		}
	}
	return finish()
}

// MadeUpIDs numbers the ids that a codec makes up.
func MadeUpIDs(o provider.Options) provider.Options {
	if o.NewID == nil {
		n := 0
		o.NewID = func() string { n++; return fmt.Sprintf("call_made_up_%d", n) }
	}
	return o
}

// PlayBody sends one whole response through a codec: every call in it ends with it, and
// where there is none it may pass as it is. out is "" if there is an error.
func PlayBody(t testing.TB, b provider.Body, g *Gate, in string) (out string, notes provider.Notes, err error) {
	t.Helper()
	need, err := b.Decode([]byte(in))
	for i, j := range g.Calls {
		if !j.Over {
			t.Errorf("call %d never ended", i)
		}
	}
	switch {
	case err != nil:
		return "", b.Notes(), err
	case need == provider.Finished:
		if len(g.Calls) > 0 {
			t.Errorf("%d calls and nothing to resolve", len(g.Calls))
		}
		return in, b.Notes(), nil
	}
	released, err := b.Release(nil, g.Outcomes(true))
	return string(released), b.Notes(), err
}
