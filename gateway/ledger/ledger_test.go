package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/wire"
)

var ctx = context.Background()

// Proves W47: what was kept of a response is found by its id, by its messages and by
// its calls, for its principal alone; a message id that comes again for another call
// means nobody.
func TestBook(t *testing.T) {
	b := ledger.New(nil)
	r := ledger.Response{Session: "s", Calls: []ledger.Call{{ID: "c1", Tool: "a", Proposal: "P1"}},
		Denied: []wire.Replaced{{Message: "m1", Call: "c2", Item: []byte("item"), Output: []byte("out")}}}
	if err := b.Keep(ctx, "p", "r1", r, r.Calls); err != nil {
		t.Fatal(err)
	}
	got, ok, err := b.Response(ctx, "p", "r1")
	want := ledger.Response{Session: "s", Calls: r.Calls, Denied: []wire.Replaced{{Message: "m1", Call: "c2", Output: []byte("out")}}}
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	if m, ok, _ := b.Message(ctx, "p", "m1"); !ok || string(m.Item) != "item" {
		t.Errorf("message: %+v %v", m, ok)
	}
	if c, ok, _ := b.Call(ctx, "p", "c1"); !ok || c != r.Calls[0] {
		t.Errorf("call: %+v %v", c, ok)
	}
	for _, id := range []string{"r2", ""} {
		if _, ok, _ := b.Response(ctx, "p", id); ok {
			t.Errorf("response %q is known", id)
		}
	}
	if _, ok, _ := b.Response(ctx, "other", "r1"); ok {
		t.Error("another principal knows it")
	}
	r.Denied[0].Call = "c9"
	if err := b.Keep(ctx, "p", "r3", r, nil); err != nil {
		t.Fatal(err)
	}
	if m, _, _ := b.Message(ctx, "p", "m1"); m.Call != "" || len(m.Item) > 0 {
		t.Errorf("an ambiguous message: %+v", m)
	}
}

// Proves W47, W50: a result that has only an id finds its call by the call's id or by that
// of its item; where two calls may be meant, none is.
func TestItems(t *testing.T) {
	a := ledger.Call{ID: "call_a", Item: "item_a", Tool: "t", Proposal: "P1"}
	plain := ledger.Call{ID: "call_b", Tool: "t", Proposal: "P2"}
	for _, c := range []struct {
		name  string
		later []ledger.Call
		id    stopgate.CallID
		want  stopgate.ProposalID
	}{
		{"the item", nil, "item_a", "P1"},
		{"the call", nil, "call_a", "P1"},
		{"a call without an item", nil, "call_b", "P2"},
		{"an unknown id", nil, "item_z", ""},
		{"no id", nil, "", ""},
		{"the same call again", []ledger.Call{a}, "item_a", "P1"},
		{"the item of another call", []ledger.Call{{ID: "call_c", Item: "item_a", Tool: "t", Proposal: "P3"}}, "item_a", ""},
		{"a call that is called like the item", []ledger.Call{{ID: "item_a", Item: "item_c", Tool: "t", Proposal: "P3"}}, "item_a", ""},
		{"an item that is called like the call", []ledger.Call{{ID: "call_c", Item: "call_b", Tool: "t", Proposal: "P3"}}, "call_b", ""},
		{"two calls in one item", []ledger.Call{{ID: "call_c", Item: "item_c", Proposal: "P3"}, {ID: "call_d", Item: "item_c", Proposal: "P4"}}, "item_c", ""},
		{"three calls in one item", []ledger.Call{{ID: "c", Item: "i", Proposal: "P3"}, {ID: "d", Item: "i", Proposal: "P4"}, {ID: "c", Item: "i", Proposal: "P3"}}, "i", ""},
	} {
		b := ledger.New(nil)
		for _, list := range [][]ledger.Call{{a, plain}, c.later} {
			if err := b.Keep(ctx, "p", "", ledger.Response{}, list); err != nil {
				t.Fatal(err)
			}
		}
		got, ok, err := b.Item(ctx, "p", c.id)
		if err != nil || got.Proposal != c.want || ok != (c.want != "") {
			t.Errorf("%s: %+v %v %v", c.name, got, ok, err)
		}
		if got, ok, _ := b.Item(ctx, "other", c.id); ok {
			t.Errorf("%s: another principal finds %+v", c.name, got)
		}
	}
	b := ledger.New(broken{})
	if _, ok, err := b.Item(ctx, "p", "i"); ok || err == nil {
		t.Error("a store that is down", ok, err)
	}
	if err := b.Keep(ctx, "p", "", ledger.Response{}, []ledger.Call{a}); err == nil {
		t.Error("kept")
	}
}

// Proves W47: what is kept is bounded: the newest calls of a chain, items that are not
// huge, and in memory the newest entries.
func TestBounds(t *testing.T) {
	b := ledger.New(nil)
	var r ledger.Response
	for i := range ledger.MaxCalls + 5 {
		r.Calls = append(r.Calls, ledger.Call{ID: stopgate.CallID(fmt.Sprint("c", i))})
	}
	r.Denied = []wire.Replaced{{Message: "m", Item: make([]byte, ledger.MaxItem+1)}}
	if err := b.Keep(ctx, "p", "r", r, nil); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := b.Response(ctx, "p", "r"); len(got.Calls) != ledger.MaxCalls || got.Calls[0].ID != "c5" {
		t.Errorf("%d calls from %s", len(got.Calls), got.Calls[0].ID)
	}
	if m, ok, _ := b.Message(ctx, "p", "m"); !ok || m.Item != nil {
		t.Error("a huge item is kept")
	}
	large := strings.Repeat("x", ledger.MaxItem)
	for i := range 2 * ledger.MaxBytes / ledger.MaxItem {
		if err := b.Keep(ctx, "p", "", ledger.Response{Denied: []wire.Replaced{{Message: fmt.Sprint("n", i), Item: []byte(large)}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, _ := b.Message(ctx, "p", "n0"); ok {
		t.Error("the oldest entry is still there")
	}
}

// broken is a store that fails.
type broken struct{}

func (broken) Keep(context.Context, stopgate.Principal, map[string][]byte) error {
	return errors.New("disk")
}

func (broken) Find(context.Context, stopgate.Principal, string) ([]byte, error) {
	return []byte("{"), nil
}

// Proves FM2: a store that fails, and a text that is none, are errors and no entries.
func TestBroken(t *testing.T) {
	b := ledger.New(broken{})
	if _, ok, err := b.Response(ctx, "p", "r"); ok || err == nil {
		t.Error(ok, err)
	}
	if err := b.Keep(ctx, "p", "r", ledger.Response{}, nil); err == nil {
		t.Error("kept")
	}
}
