package storetest

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/session"
)

// Owners whose names are chosen to be taken for each other.
var owners = []session.Owner{
	{Principal: "local", Session: "s"},
	{Principal: "local", Session: "s/x"},
	{Principal: "local/s", Session: "x"},
	{Principal: "", Session: "local"},
	{Principal: "local", Session: ""},
	{Principal: "lo\x00cal", Session: "s"},
	{Principal: "lo\x00cal", Session: "s\x00"},
	{Principal: "*", Session: "ß∂\xff"},
}

// What is told of one owner is told of no other, however their names look.
func ownersAreApart(t *testing.T, s gate.Store) {
	tricky := []session.Key{
		own, {Space: session.SpaceNote, Name: "p/v"}, {Space: session.SpaceTool, Name: "p", Value: "v"},
		{Space: session.SpaceNote, Name: "*", Value: "v"}, {Space: session.SpaceNote, Name: "p", Value: "v/\x00\xfe"},
	}
	for i, o := range owners {
		for j, k := range tricky {
			Add(t, s, o, note(k, fmt.Sprint(i, j), int64(i)))
		}
	}
	for i, o := range owners {
		for j, k := range tricky {
			if c := cell(t, s, o, k); c.Text != fmt.Sprint(i, j) || len(c.Permits) != 1 {
				t.Errorf("owner %d, key %d: %+v", i, j, c)
			}
		}
		if facts := logOf(t, s, o); len(facts) != len(tricky) {
			t.Errorf("owner %d: %d facts", i, len(facts))
		}
	}
}

// Cells of a principal are one for all its sessions, and positions too.
func principalsShare(t *testing.T, s gate.Store) {
	one, two, other := owners[0], owners[1], owners[2]
	Add(t, s, one, note(shared, "a", 1), note(own, "a", 1))
	Add(t, s, two, note(shared, "b", 2))
	for _, o := range []session.Owner{one, two} {
		if c := cell(t, s, o, shared); c.Text != "b" || len(c.Permits) != 2 || c.Seq != 3 {
			t.Errorf("%v: %+v", o, c)
		}
	}
	if c := cell(t, s, other, shared); c.Seq != 0 {
		t.Errorf("another principal: %+v", c)
	}
	if c := cell(t, s, two, own); c.Seq != 0 {
		t.Errorf("another session: %+v", c)
	}
	if facts := logOf(t, s, two); len(facts) != 1 || facts[0].Seq != 3 {
		t.Errorf("facts %v", facts)
	}
}
