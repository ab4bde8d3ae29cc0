package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/wire"
)

// Proves W47, W51: what was replaced is found by its principal only, large items
// are not kept, and the oldest responses go first.
func TestLedgerIsBounded(t *testing.T) {
	var l ledger
	if _, ok := (view{&l, "p"}).Message("m"); ok || (view{&l, "p"}).Response("r") != nil {
		t.Error("an empty ledger knows something")
	}
	l.add("p", "", []wire.Replaced{{Message: "m"}})
	l.add("p", "none", nil)
	l.add("p", "r", []wire.Replaced{{Message: "m", Call: "c", Item: []byte("x")}, {Message: "large", Item: make([]byte, maxLedgerItem+1)}})
	l.add("p", "r", []wire.Replaced{{Message: "other"}})
	if got := (view{&l, "p"}).Response("r"); len(got) != 2 || got[0].Call != "c" || got[1].Item != nil {
		t.Errorf("%+v", got)
	}
	if _, ok := (view{&l, "q"}).Message("m"); ok || (view{&l, "q"}).Response("r") != nil {
		t.Error("another principal sees it")
	}
	l.add("p", "again", []wire.Replaced{{Message: "m", Call: "d", Item: []byte("y")}})
	if got, ok := (view{&l, "p"}).Message("m"); !ok || got.Item != nil {
		t.Errorf("an id that was used twice means %s", got.Item)
	}
	for i := range maxLedgerResponses {
		l.add("p", fmt.Sprint("n", i), []wire.Replaced{{Message: fmt.Sprint("m", i)}})
	}
	if _, ok := (view{&l, "p"}).Message("m"); ok || len(l.order) != maxLedgerResponses || len(l.responses) != maxLedgerResponses || len(l.messages) != maxLedgerResponses {
		t.Errorf("%d responses, %d messages", len(l.responses), len(l.messages))
	}
	item := []byte(strings.Repeat("x", maxLedgerItem))
	for i := range 200 {
		l.add("p", fmt.Sprint("big", i), []wire.Replaced{{Message: fmt.Sprint("b", i), Item: item}})
	}
	if l.size > maxLedgerBytes {
		t.Errorf("%d bytes are kept", l.size)
	}
	size := 0
	for _, list := range l.responses {
		for i := range list {
			size += sizeOf(&list[i])
		}
	}
	if size != l.size || len(l.messages) != len(l.responses) {
		t.Errorf("%d bytes, counted %d; %d messages of %d responses", size, l.size, len(l.messages), len(l.responses))
	}
}
