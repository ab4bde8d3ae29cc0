// Package ledger is what a gateway remembers of responses that their provider
// remembers too, so that a client can continue them by their id (WIRE 3.7): whose
// they are, which calls they released, and which messages stand in them for denied
// calls.
//
//	book := ledger.New(store)
//	err := book.Keep(ctx, principal, "resp_1", entry, released)
//	entry, ok, err := book.Response(ctx, principal, "resp_1")
//
// It keeps texts under keys in a [Store]: store/sqlite, shared by all replicas, or a
// [Memory]. The texts hold arguments of denied calls; they belong into no record. What
// is not known, or cannot be read, is a response about which nothing is known: no
// entry makes a verdict weaker.
package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
)

// Store keeps texts under keys of a principal. Principals share nothing. It may be
// called from several goroutines at once.
type Store interface {
	// Keep stores texts, durable before it returns, all of them or none. A key that
	// was there gets the new text.
	Keep(ctx context.Context, p stopgate.Principal, texts map[string][]byte) error
	// Find returns the text of a key, nil if there is none.
	Find(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
}

// Response is what is remembered of one response.
type Response struct {
	Session stopgate.SessionID `json:"session"`
	// Calls are those that the responses up to this one have released, oldest first,
	// where nothing else says what happened in the session.
	Calls []Call `json:"calls,omitempty"`
	// Denied are the calls that the provider takes for made.
	Denied []wire.Replaced `json:"denied,omitempty"`
	// Next is the response in which this one went on, when the gate had answered its
	// calls: whoever continues this one continues that.
	Next string `json:"next,omitempty"`
	// Until is set while a gateway still reads the provider's answer, of which the client
	// has the end: then it is known which calls are in it. It is over by this time.
	Until time.Time `json:"until,omitzero"`
}

// Call is a released call.
type Call struct {
	ID stopgate.CallID `json:"id"`
	// Item is the id of the item that holds the call, where a dialect's results may name
	// this instead of the call.
	Item     stopgate.CallID     `json:"item,omitempty"`
	Tool     stopgate.ToolName   `json:"tool"`
	Proposal stopgate.ProposalID `json:"proposal"`
}

// Bounds of what is kept. The oldest calls of a long conversation are forgotten. The
// item of a denied call that is larger than MaxItem is forgotten: its response can be
// continued by id, not replayed.
const (
	MaxCalls = 256
	MaxItem  = 256 << 10
)

// limit is the time that one look into a store may take.
const limit = 250 * time.Millisecond

// Book is a ledger over a store.
type Book struct{ store Store }

// New returns a ledger; a nil store is a [Memory].
func New(s Store) *Book {
	if s == nil {
		s = new(Memory)
	}
	return &Book{s}
}

// The kinds of keys.
const (
	responseKey = "response:"
	messageKey  = "message:"
	callKey     = "call:"
	itemKey     = "item:"
	textKey     = "text:"
)

// Text is the key of a message by what it says in a session.
func Text(s stopgate.SessionID, text string) string {
	sum := sha256.Sum256([]byte(string(s) + "\x00" + text))
	return hex.EncodeToString(sum[:])
}

// MaxSaid is how many messages of one text are remembered.
const MaxSaid = 32

// find reads the text of a key.
func (b *Book) find(ctx context.Context, p stopgate.Principal, key string, into any) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := b.store.Find(ctx, p, key)
	if err == nil && text != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("ledger of responses: %w", err)
	}
	return text != nil, nil
}

// Response finds what is remembered of a response.
func (b *Book) Response(ctx context.Context, p stopgate.Principal, id string) (r Response, ok bool, err error) {
	if id != "" {
		ok, err = b.find(ctx, p, responseKey+id, &r)
	}
	return r, ok, err
}

// Message finds the call that a message of ours stands for.
func (b *Book) Message(ctx context.Context, p stopgate.Principal, id string) (r wire.Replaced, ok bool, err error) {
	ok, err = b.find(ctx, p, messageKey+id, &r)
	return r, ok, err
}

// Said lists the ids of the messages that say what [Text] stands for, oldest first.
func (b *Book) Said(ctx context.Context, p stopgate.Principal, key string) (ids []string, ok bool, err error) {
	ok, err = b.find(ctx, p, textKey+key, &ids)
	return ids, ok, err
}

// Call finds a released call by its id.
func (b *Book) Call(ctx context.Context, p stopgate.Principal, id stopgate.CallID) (c Call, ok bool, err error) {
	if id != "" {
		ok, err = b.find(ctx, p, callKey+string(id), &c)
	}
	return c, ok, err
}

// Item finds a released call by what a result calls it that may mean the item as well as
// the call. Where two calls may be meant, none is.
func (b *Book) Item(ctx context.Context, p stopgate.Principal, id stopgate.CallID) (c Call, ok bool, err error) {
	if id == "" {
		return c, false, nil
	}
	c, ok, err = b.Call(ctx, p, id)
	if err != nil {
		return Call{}, false, err
	}
	var item Call
	known, err := b.find(ctx, p, itemKey+string(id), &item)
	switch {
	case err != nil, ok && known && c != item:
		return Call{}, false, err
	case known:
		return item, item.ID != "", nil
	}
	return c, ok, nil
}

// Keep remembers a response and the calls that it released itself. An empty id is that
// of a response that cannot be continued: its calls and messages may still be replayed.
func (b *Book) Keep(ctx context.Context, p stopgate.Principal, id string, r Response, released []Call) error {
	texts := make(map[string][]byte)
	denied := make([]wire.Replaced, len(r.Denied))
	said := map[string][]string{}
	for i, d := range r.Denied {
		denied[i] = d
		denied[i].Item, denied[i].Text = nil, "" // they stand under its message
		if len(d.Item) > MaxItem {
			d.Item = nil
		}
		known, again, err := b.Message(ctx, p, d.Message)
		if err != nil {
			return err
		}
		if again && (known.Call != d.Call || !bytes.Equal(known.Item, d.Item)) {
			// Providers may use an id again: then nobody knows which call is meant.
			d = wire.Replaced{Message: d.Message}
		}
		texts[messageKey+d.Message] = text(d)
		if d.Text == "" || again {
			continue
		}
		key := Text(r.Session, d.Text)
		if said[key] == nil {
			if said[key], _, err = b.Said(ctx, p, key); err != nil {
				return err
			}
		}
		said[key] = append(said[key], d.Message)
		texts[textKey+key] = text(said[key][max(0, len(said[key])-MaxSaid):])
	}
	if err := b.keepCalls(ctx, p, texts, released); err != nil {
		return err
	}
	if id != "" {
		r.Denied = denied
		r.Calls = r.Calls[max(0, len(r.Calls)-MaxCalls):]
		texts[responseKey+id] = text(r)
	}
	if len(texts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 4*limit)
	defer cancel()
	if err := b.store.Keep(ctx, p, texts); err != nil {
		return fmt.Errorf("ledger of responses: %w", err)
	}
	return nil
}

// keepCalls adds the texts of released calls. An item id that comes again for another call
// means nobody from then on.
func (b *Book) keepCalls(ctx context.Context, p stopgate.Principal, texts map[string][]byte, released []Call) error {
	for _, c := range released {
		if c.ID == "" {
			continue
		}
		texts[callKey+string(c.ID)] = text(c)
		if c.Item == "" {
			continue
		}
		key := itemKey + string(c.Item)
		_, again := texts[key]
		if !again {
			var known Call
			ok, err := b.find(ctx, p, key, &known)
			if err != nil {
				return err
			}
			again = ok && known != c
		}
		if again {
			c = Call{}
		}
		texts[key] = text(c)
	}
	return nil
}

// text is an entry as it is kept: strings and bytes always marshal.
func text(entry any) []byte {
	t, _ := json.Marshal(entry)
	return t
}
