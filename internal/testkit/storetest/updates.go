package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

// Nobody's session is there before anybody wrote to it, and looking makes none.
func emptyIsZero(t *testing.T, s gate.Store) {
	state := load(t, s, owners[0], own, shared, own)
	if len(state.Entries()) != 3 || state.Head != 0 || !state.Has([]session.Key{own, shared}) {
		t.Errorf("state %+v", state)
	}
	if c := cell(t, s, owners[0], own); !cmp.Equal(c, session.Cell{}, inside) {
		t.Errorf("cell %+v", c)
	}
	if facts := logOf(t, s, owners[0]); len(facts) != 0 {
		t.Errorf("facts %v", facts)
	}
	list, err := s.Sessions(ctx, "", 10)
	if err != nil || len(list) != 0 {
		t.Errorf("sessions %v, %v", list, err)
	}
}

func updateIsSeen(t *testing.T, s gate.Store) {
	o := owners[0]
	Add(t, s, o, note(own, "a", 1), note(own, "b", 2))
	Add(t, s, o, note(own, "c", 3))
	state := load(t, s, o, own)
	if c, _ := state.Cell(own); state.Head != 3 || c.Text != "c" || c.Seq != 3 || len(c.Permits) != 3 {
		t.Errorf("head %d, cell %+v", state.Head, c)
	}
	var seen []string
	for _, f := range logOf(t, s, o) {
		seen = append(seen, fmt.Sprint(f.Seq, f.Text))
	}
	if want := []string{"1a", "2b", "3c"}; !slices.Equal(seen, want) {
		t.Errorf("facts %q, want %q", seen, want)
	}
	var inside session.State
	err := s.Update(ctx, o, []session.Key{own, own}, func(st session.State) (gate.Change, error) {
		inside = st
		return gate.Change{}, nil
	})
	if c, _ := inside.Cell(own); err != nil || inside.Head != 3 || c.Text != "c" || len(inside.Entries()) != 2 {
		t.Errorf("inside: %+v, %v", inside, err)
	}
}

// Whatever stops an update leaves everything as it was.
func nothingOnError(t *testing.T, s gate.Store) {
	o := owners[0]
	Add(t, s, o, note(own, "a", 1))
	before := load(t, s, o, own, shared)
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		keys  []session.Key
		facts []session.Fact
		err   error
		want  error
	}{
		"the decision's error": {[]session.Key{session.Self, own}, []session.Fact{note(own, "b", 2)}, boom, boom},
		"a cell not loaded":    {[]session.Key{session.Self, own}, []session.Fact{note(own, "b", 2), note(shared, "b", 2)}, nil, session.ErrNotLoaded},
		"an unknown call":      {[]session.Key{session.Self, session.CallKey("x")}, []session.Fact{{Kind: session.Succeeded, Proposal: "x"}}, nil, session.ErrUnknown},
	} {
		err := s.Update(ctx, o, c.keys, func(session.State) (gate.Change, error) { return gate.Change{Facts: c.facts}, c.err })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic of the decision got lost")
			}
		}()
		s.Update(ctx, o, []session.Key{own}, func(session.State) (gate.Change, error) { panic("boom") })
	}()
	if after := load(t, s, o, own, shared); !cmp.Equal(after, before, inside) {
		t.Errorf("state %+v, want %+v", after, before)
	}
	if facts := logOf(t, s, o); len(facts) != 1 {
		t.Errorf("facts %v", facts)
	}
	Add(t, s, o, note(own, "c", 3)) // and it goes on
	if c := cell(t, s, o, own); c.Seq != 2 {
		t.Errorf("cell %+v", c)
	}
}

func manyKeys(t *testing.T, s gate.Store) {
	o := owners[0]
	var facts []session.Fact
	var keys []session.Key
	for i := range 300 {
		k := session.Key{Space: session.SpaceNote, Name: "p", Value: fmt.Sprint(i)}
		keys = append(keys, k)
		if i%3 == 0 {
			facts = append(facts, note(k, fmt.Sprint(i), 1))
		}
	}
	Add(t, s, o, facts...)
	state := load(t, s, o, keys...)
	if !state.Has(keys) || len(state.Entries()) != len(keys) {
		t.Fatalf("%d entries", len(state.Entries()))
	}
	for i, k := range keys {
		want := ""
		if i%3 == 0 {
			want = fmt.Sprint(i)
		}
		if c, _ := state.Cell(k); c.Text != want {
			t.Errorf("key %d: %q, want %q", i, c.Text, want)
		}
	}
}

// Check and reserve is one step: of many callers that see room for some, exactly
// that many get in (I19, H4).
func reserveOnce(t *testing.T, s gate.Store) {
	const callers, limit = 32, 7
	full := errors.New("full")
	var mu sync.Mutex
	in := 0
	var running sync.WaitGroup
	for i := range callers {
		o := owners[i%2] // two sessions of one principal
		running.Go(func() {
			err := s.Update(ctx, o, []session.Key{session.Self, shared}, func(st session.State) (gate.Change, error) {
				if c, _ := st.Cell(shared); len(c.Permits) >= limit {
					return gate.Change{}, full
				}
				return gate.Change{Facts: []session.Fact{note(shared, fmt.Sprint(i), 1)}}, nil
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				in++
			case !errors.Is(err, full):
				t.Error(err)
			}
		})
	}
	running.Wait()
	if in != limit {
		t.Errorf("%d callers got in, want %d", in, limit)
	}
}

func endOfContext(t *testing.T, s gate.Store) {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	o := owners[0]
	if _, err := s.Load(gone, o, []session.Key{own}); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
	err := s.Update(gone, o, []session.Key{session.Self, own}, func(session.State) (gate.Change, error) {
		return gate.Change{Facts: []session.Fact{note(own, "a", 1)}}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	if c := cell(t, s, o, own); c.Seq != 0 {
		t.Errorf("cell %+v", c)
	}
}
