// Package responselog stores the gateway's own record of responses that clients can continue by id
// because the provider stores them too: the principal of each response, the calls that it released,
// and the messages that replaced its denied calls.
//
//	log := responselog.New(store)
//	err := log.Save(ctx, principal, "resp_1", response, released)
//	response, ok, err := log.Response(ctx, principal, "resp_1")
//
// Entries live under keys in a [Store]: store/sqlite, which replicas share, or a [Memory]. Entries
// hold arguments of denied calls and therefore never go into the audit log. An entry that is
// missing or cannot be read makes the response unknown; no entry makes a verdict more permissive.
package responselog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// Store stores entries by principal and key. Principals share no entries. Its methods are safe for
// concurrent use.
type Store interface {
	// PutLogEntries stores all entries or none, durably before it returns. It overwrites existing
	// keys.
	PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error
	// LogEntry returns the entry of a key, or nil if there is none.
	LogEntry(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
}

// Response is the entry of one response.
type Response struct {
	Session stopgate.SessionID `json:"session"`
	// Calls are the calls released by the responses up to this one, oldest first. It is empty where
	// the dialect's requests carry the whole history.
	Calls []Call `json:"calls,omitempty"`
	// Denied are the calls that the provider believes were made.
	Denied []provider.ReplacedCall `json:"denied,omitempty"`
	// Next is the id of the response that continued this one after the gate answered its calls. A
	// client that continues this response continues Next.
	Next string `json:"next,omitempty"`
	// Until is set while a gateway still reads the provider's response after the client has
	// received the end of it. The entry then does not list all calls yet. The gateway finishes
	// before this time.
	Until time.Time `json:"until,omitzero"`
}

// Call is a released call.
type Call struct {
	ID stopgate.CallID `json:"id"`
	// Item is the id of the output item that contains the call. Results of some dialects refer to
	// the item instead of the call.
	Item     stopgate.CallID     `json:"item,omitempty"`
	Tool     stopgate.ToolName   `json:"tool"`
	Proposal stopgate.ProposalID `json:"proposal"`
}

// Bounds of an entry. Save drops the oldest calls of a long conversation. It drops the item of a
// denied call that is larger than MaxItem: such a response can be continued by id, but not
// replayed.
const (
	MaxCalls = 256
	MaxItem  = 256 << 10
)

// storeTimeout limits one operation of the store.
const storeTimeout = 250 * time.Millisecond

// Log is a response log on top of a store.
type Log struct{ store Store }

// New returns a log that uses s, or a new [Memory] if s is nil.
func New(s Store) *Log {
	if s == nil {
		s = new(Memory)
	}
	return &Log{s}
}

// Prefixes of keys, by kind of entry.
const (
	responseKey = "response:"
	messageKey  = "message:"
	callKey     = "call:"
	itemKey     = "item:"
	textKey     = "text:"
)

// TextKey returns the key under which messages with this text in session s are listed.
func TextKey(s stopgate.SessionID, text string) string {
	sum := sha256.Sum256([]byte(string(s) + "\x00" + text))
	return hex.EncodeToString(sum[:])
}

// MaxMessages limits how many message ids are stored for one text.
const MaxMessages = 32

// find decodes the entry of a key into a value.
func (l *Log) find(ctx context.Context, p stopgate.Principal, key string, into any) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	data, err := l.store.LogEntry(ctx, p, key)
	if err == nil && data != nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return false, fmt.Errorf("response log: %w", err)
	}
	return data != nil, nil
}

// Response returns the entry of a response.
func (l *Log) Response(ctx context.Context, p stopgate.Principal, id string) (r Response, ok bool, err error) {
	if id != "" {
		ok, err = l.find(ctx, p, responseKey+id, &r)
	}
	return r, ok, err
}

// Message returns the denied call that one of the gateway's messages replaced.
func (l *Log) Message(ctx context.Context, p stopgate.Principal, id string) (r provider.ReplacedCall, ok bool, err error) {
	ok, err = l.find(ctx, p, messageKey+id, &r)
	return r, ok, err
}

// MessagesByText lists the ids of the messages with the text of key (see [TextKey]), oldest first.
func (l *Log) MessagesByText(ctx context.Context, p stopgate.Principal, key string) (ids []string, ok bool, err error) {
	ok, err = l.find(ctx, p, textKey+key, &ids)
	return ids, ok, err
}

// Call returns a released call by its id.
func (l *Log) Call(ctx context.Context, p stopgate.Principal, id stopgate.CallID) (c Call, ok bool, err error) {
	if id != "" {
		ok, err = l.find(ctx, p, callKey+string(id), &c)
	}
	return c, ok, err
}

// Item returns a released call by an id that may be the id of the item or of the call. It returns
// false if the id is ambiguous.
func (l *Log) Item(ctx context.Context, p stopgate.Principal, id stopgate.CallID) (c Call, ok bool, err error) {
	if id == "" {
		return c, false, nil
	}
	c, ok, err = l.Call(ctx, p, id)
	if err != nil {
		return Call{}, false, err
	}
	var item Call
	known, err := l.find(ctx, p, itemKey+string(id), &item)
	switch {
	case err != nil, ok && known && c != item:
		return Call{}, false, err
	case known:
		return item, item.ID != "", nil
	}
	return c, ok, nil
}

// Save stores a response and the calls that it released itself. The id is empty if the response
// cannot be continued; clients may still replay its calls and messages.
func (l *Log) Save(ctx context.Context, p stopgate.Principal, id string, r Response, released []Call) error {
	entries := make(map[string][]byte)
	denied := make([]provider.ReplacedCall, len(r.Denied))
	byText := map[string][]string{}
	for i, d := range r.Denied {
		denied[i] = d
		denied[i].Item, denied[i].Text = nil, "" // stored under the message
		if len(d.Item) > MaxItem {
			d.Item = nil
		}
		known, reused, err := l.Message(ctx, p, d.Message)
		if err != nil {
			return err
		}
		if reused && (known.Call != d.Call || !bytes.Equal(known.Item, d.Item)) {
			// Providers may reuse an id, which makes it ambiguous: no call is stored for it.
			d = provider.ReplacedCall{Message: d.Message}
		}
		entries[messageKey+d.Message] = encode(d)
		if d.Text == "" || reused {
			continue
		}
		key := TextKey(r.Session, d.Text)
		if byText[key] == nil {
			if byText[key], _, err = l.MessagesByText(ctx, p, key); err != nil {
				return err
			}
		}
		byText[key] = append(byText[key], d.Message)
		entries[textKey+key] = encode(byText[key][max(0, len(byText[key])-MaxMessages):])
	}
	if err := l.addCalls(ctx, p, entries, released); err != nil {
		return err
	}
	if id != "" {
		r.Denied = denied
		r.Calls = r.Calls[max(0, len(r.Calls)-MaxCalls):]
		entries[responseKey+id] = encode(r)
	}
	if len(entries) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 4*storeTimeout)
	defer cancel()
	if err := l.store.PutLogEntries(ctx, p, entries); err != nil {
		return fmt.Errorf("response log: %w", err)
	}
	return nil
}

// addCalls adds the entries of released calls. An item id that is used again for another call is
// ambiguous and finds no call from then on.
func (l *Log) addCalls(ctx context.Context, p stopgate.Principal, entries map[string][]byte, released []Call) error {
	for _, c := range released {
		if c.ID == "" {
			continue
		}
		entries[callKey+string(c.ID)] = encode(c)
		if c.Item == "" {
			continue
		}
		key := itemKey + string(c.Item)
		_, reused := entries[key]
		if !reused {
			var known Call
			ok, err := l.find(ctx, p, key, &known)
			if err != nil {
				return err
			}
			reused = ok && known != c
		}
		if reused {
			c = Call{}
		}
		entries[key] = encode(c)
	}
	return nil
}

// encode marshals an entry, which has only strings and bytes and cannot fail.
func encode(entry any) []byte {
	t, _ := json.Marshal(entry)
	return t
}
