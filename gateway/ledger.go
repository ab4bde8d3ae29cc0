package gateway

import (
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
)

// ledger remembers which calls were denied in responses that their provider
// remembers with the call, so that a client can continue them (WIRE 3.7). It is
// kept in memory and forgets the oldest responses first. It holds arguments and
// is never written anywhere. The zero ledger is empty.
type ledger struct {
	mu        sync.Mutex
	responses map[ledgerKey][]wire.Replaced
	messages  map[ledgerKey]wire.Replaced
	order     []ledgerKey // of responses, oldest first
	size      int         // bytes
}

// ledgerKey is an id as one principal knows it.
type ledgerKey struct {
	principal stopgate.Principal
	id        string
}

// The bounds of the ledger. An item that is larger than maxLedgerItem is
// remembered without its text: its response can be continued by id, not replayed.
const (
	maxLedgerResponses = 10_000
	maxLedgerBytes     = 32 << 20
	maxLedgerItem      = 256 << 10
)

// add remembers the denied calls of a response.
func (l *ledger) add(p stopgate.Principal, response string, list []wire.Replaced) {
	if len(list) == 0 || response == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.responses == nil {
		l.responses, l.messages = map[ledgerKey][]wire.Replaced{}, map[ledgerKey]wire.Replaced{}
	}
	key := ledgerKey{p, response}
	if _, known := l.responses[key]; known {
		return // an id that comes twice: the first one stays
	}
	for i := range list {
		if len(list[i].Item) > maxLedgerItem {
			list[i].Item = nil
		}
		l.size += sizeOf(&list[i])
		message := ledgerKey{p, list[i].Message}
		if _, twice := l.messages[message]; twice {
			// Providers may use an id again: then nobody knows which call is meant.
			l.messages[message] = wire.Replaced{Message: list[i].Message}
		} else {
			l.messages[message] = list[i]
		}
	}
	l.responses[key] = list
	l.order = append(l.order, key)
	for len(l.order) > maxLedgerResponses || l.size > maxLedgerBytes && len(l.order) > 1 {
		l.forget(l.order[0])
		l.order = l.order[1:]
	}
}

func (l *ledger) forget(key ledgerKey) {
	for _, r := range l.responses[key] {
		l.size -= sizeOf(&r)
		delete(l.messages, ledgerKey{key.principal, r.Message})
	}
	delete(l.responses, key)
}

func sizeOf(r *wire.Replaced) int {
	return len(r.Message) + len(r.Call) + len(r.Item) + len(r.Output)
}

// view is the ledger as one principal may see it.
type view struct {
	l *ledger
	p stopgate.Principal
}

var _ wire.Ledger = view{}

// Response implements [wire.Ledger].
func (v view) Response(id string) []wire.Replaced {
	v.l.mu.Lock()
	defer v.l.mu.Unlock()
	return v.l.responses[ledgerKey{v.p, id}]
}

// Message implements [wire.Ledger].
func (v view) Message(id string) (wire.Replaced, bool) {
	v.l.mu.Lock()
	defer v.l.mu.Unlock()
	r, ok := v.l.messages[ledgerKey{v.p, id}]
	return r, ok
}

// restore puts denied calls back into the history of a request, if its dialect's
// provider keeps it.
func (x *exchange) restore(body []byte) []byte {
	if d, ok := x.dialect.(wire.Restorer); ok && x.enforced {
		return d.Restore(body, view{&x.g.ledger, x.principal})
	}
	return body
}

// replaced remembers what a codec has put messages in the place of. It comes
// before the client has the response and can continue it.
func (x *exchange) replaced(codec any) {
	if h, ok := codec.(wire.History); ok {
		response, list := h.Replaced()
		x.g.ledger.add(x.principal, response, list)
	}
}
