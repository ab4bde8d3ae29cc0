package responselog_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
)

var ctx = context.Background()

// Proves W47: a response is found by its id, by its messages and by its calls, for its own
// principal only. A message id that is reused for another call finds no call.
func TestLogFindsWhatWasSaved(t *testing.T) {
	log := responselog.New(nil)
	r := responselog.Response{Session: "s", Calls: []responselog.Call{{ID: "c1", Tool: "a", Proposal: "P1"}},
		Denied: []provider.ReplacedCall{{Message: "m1", Call: "c2", Item: []byte("item"), Output: []byte("out")}}}
	if err := log.Save(ctx, "p", "r1", r, r.Calls); err != nil {
		t.Fatal(err)
	}
	got, ok, err := log.Response(ctx, "p", "r1")
	want := responselog.Response{Session: "s", Calls: r.Calls, Denied: []provider.ReplacedCall{{Message: "m1", Call: "c2", Output: []byte("out")}}}
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	if m, ok, _ := log.Message(ctx, "p", "m1"); !ok || string(m.Item) != "item" {
		t.Errorf("message: %+v %v", m, ok)
	}
	if c, ok, _ := log.Call(ctx, "p", "c1"); !ok || c != r.Calls[0] {
		t.Errorf("call: %+v %v", c, ok)
	}
	for _, id := range []string{"r2", ""} {
		if _, ok, _ := log.Response(ctx, "p", id); ok {
			t.Errorf("response %q is known", id)
		}
	}
	if _, ok, _ := log.Response(ctx, "other", "r1"); ok {
		t.Error("another principal knows it")
	}
	r.Denied[0].Call = "c9"
	if err := log.Save(ctx, "p", "r3", r, nil); err != nil {
		t.Fatal(err)
	}
	if m, _, _ := log.Message(ctx, "p", "m1"); m.Call != "" || len(m.Item) > 0 {
		t.Errorf("an ambiguous message: %+v", m)
	}
}

// Proves W47, W50: a result that has only an id finds its call by the call's id or by that
// of its item. An ambiguous id finds no call.
func TestItemFindsCallByItemOrCallID(t *testing.T) {
	a := responselog.Call{ID: "call_a", Item: "item_a", Tool: "t", Proposal: "P1"}
	plain := responselog.Call{ID: "call_b", Tool: "t", Proposal: "P2"}
	for _, c := range []struct {
		name  string
		later []responselog.Call
		id    stopgate.CallID
		want  stopgate.ProposalID
	}{
		{"the item", nil, "item_a", "P1"},
		{"the call", nil, "call_a", "P1"},
		{"a call without an item", nil, "call_b", "P2"},
		{"an unknown id", nil, "item_z", ""},
		{"no id", nil, "", ""},
		{"the same call again", []responselog.Call{a}, "item_a", "P1"},
		{"the item of another call", []responselog.Call{{ID: "call_c", Item: "item_a", Tool: "t", Proposal: "P3"}}, "item_a", ""},
		{"a call that is called like the item", []responselog.Call{{ID: "item_a", Item: "item_c", Tool: "t", Proposal: "P3"}}, "item_a", ""},
		{"an item that is called like the call", []responselog.Call{{ID: "call_c", Item: "call_b", Tool: "t", Proposal: "P3"}}, "call_b", ""},
		{"two calls in one item", []responselog.Call{{ID: "call_c", Item: "item_c", Proposal: "P3"}, {ID: "call_d", Item: "item_c", Proposal: "P4"}}, "item_c", ""},
		{"three calls in one item", []responselog.Call{{ID: "c", Item: "i", Proposal: "P3"}, {ID: "d", Item: "i", Proposal: "P4"}, {ID: "c", Item: "i", Proposal: "P3"}}, "i", ""},
	} {
		log := responselog.New(nil)
		for _, list := range [][]responselog.Call{{a, plain}, c.later} {
			if err := log.Save(ctx, "p", "", responselog.Response{}, list); err != nil {
				t.Fatal(err)
			}
		}
		got, ok, err := log.Item(ctx, "p", c.id)
		if err != nil || got.Proposal != c.want || ok != (c.want != "") {
			t.Errorf("%s: %+v %v %v", c.name, got, ok, err)
		}
		if got, ok, _ := log.Item(ctx, "other", c.id); ok {
			t.Errorf("%s: another principal finds %+v", c.name, got)
		}
	}
	log := responselog.New(broken{})
	if _, ok, err := log.Item(ctx, "p", "i"); ok || err == nil {
		t.Error("a store that is down", ok, err)
	}
	if err := log.Save(ctx, "p", "", responselog.Response{}, []responselog.Call{a}); err == nil {
		t.Error("kept")
	}
}

// Proves W47: the log keeps only the newest calls of a chain, no item above the limit, and in
// memory only the newest entries.
func TestLogIsBounded(t *testing.T) {
	log := responselog.New(nil)
	var r responselog.Response
	for i := range responselog.MaxCalls + 5 {
		r.Calls = append(r.Calls, responselog.Call{ID: stopgate.CallID(fmt.Sprint("c", i))})
	}
	r.Denied = []provider.ReplacedCall{{Message: "m", Item: make([]byte, responselog.MaxItem+1)}}
	if err := log.Save(ctx, "p", "r", r, nil); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := log.Response(ctx, "p", "r"); len(got.Calls) != responselog.MaxCalls || got.Calls[0].ID != "c5" {
		t.Errorf("%d calls from %s", len(got.Calls), got.Calls[0].ID)
	}
	if m, ok, _ := log.Message(ctx, "p", "m"); !ok || m.Item != nil {
		t.Error("a huge item is kept")
	}
	large := strings.Repeat("x", responselog.MaxItem)
	for i := range 2 * responselog.MaxBytes / responselog.MaxItem {
		if err := log.Save(ctx, "p", "", responselog.Response{Denied: []provider.ReplacedCall{{Message: fmt.Sprint("n", i), Item: []byte(large)}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, _ := log.Message(ctx, "p", "n0"); ok {
		t.Error("the oldest entry is still there")
	}
}

// broken is a store that fails.
type broken struct{}

func (broken) PutLogEntries(context.Context, stopgate.Principal, map[string][]byte) error {
	return errors.New("disk")
}

func (broken) LogEntry(context.Context, stopgate.Principal, string) ([]byte, error) {
	return []byte("{"), nil
}

// Proves FM2: a failing store and an entry that cannot be decoded are errors, not entries.
func TestStoreErrorsAreReported(t *testing.T) {
	log := responselog.New(broken{})
	if _, ok, err := log.Response(ctx, "p", "r"); ok || err == nil {
		t.Error(ok, err)
	}
	if err := log.Save(ctx, "p", "r", responselog.Response{}, nil); err == nil {
		t.Error("kept")
	}
}
