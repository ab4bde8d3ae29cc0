package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

func paging(t *testing.T, s gate.Store) {
	o := owners[0]
	for i := range 25 {
		Add(t, s, owners[i%2], note(own, fmt.Sprint(i), int64(i)))
	}
	var got []uint64
	for after := uint64(0); ; {
		facts, err := s.Facts(ctx, o, after, 4)
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) == 0 {
			break
		}
		if len(facts) > 4 {
			t.Fatalf("%d facts in a page of 4", len(facts))
		}
		for _, f := range facts {
			got = append(got, f.Seq)
			after = f.Seq
		}
	}
	if fmt.Sprint(got) != "[1 3 5 7 9 11 13 15 17 19 21 23 25]" {
		t.Errorf("positions %v", got)
	}
	if facts, err := s.Facts(ctx, o, 0, 0); err != nil || len(facts) != 0 {
		t.Errorf("a page of nothing: %v, %v", facts, err)
	}
}

func listing(t *testing.T, s gate.Store) {
	Add(t, s, owners[0], note(own, "a", 10), note(own, "b", 20))
	Add(t, s, owners[1], note(own, "a", 30))
	Add(t, s, owners[2], note(own, "a", 25))
	Add(t, s, owners[0], note(own, "c", 40))
	all, err := s.Sessions(ctx, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	want := []session.Info{
		{Owner: owners[0], Facts: 3, First: 10, Last: 40, Head: 4},
		{Owner: owners[1], Facts: 1, First: 30, Last: 30, Head: 3},
		{Owner: owners[2], Facts: 1, First: 25, Last: 25, Head: 1},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	some, err := s.Sessions(ctx, owners[0].Principal, 1)
	if err != nil || len(some) != 1 || some[0].Owner != owners[0] {
		t.Errorf("%v, %v", some, err)
	}
	Add(t, s, owners[5], note(own, "a", 50)) // the name of the first session, of another principal
	for _, c := range []struct {
		name  stopgate.SessionID
		limit int
		want  []stopgate.Principal
	}{
		{"s", 10, []stopgate.Principal{owners[5].Principal, owners[0].Principal}},
		{"s", 1, []stopgate.Principal{owners[5].Principal}},
		{"s/x", 10, []stopgate.Principal{owners[1].Principal}},
		{"nobody's", 10, nil},
		{"s", -1, nil},
	} {
		who, err := s.Principals(ctx, c.name, c.limit)
		if err != nil || !slices.Equal(who, c.want) {
			t.Errorf("%q, at most %d: %q, %v; want %q", c.name, c.limit, who, err, c.want)
		}
	}
}
