package texts

import (
	"context"
	"crypto/sha256"
	"hash/maphash"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gate/recent"
	"github.com/stopgate/stopgate/session"
)

// Gate is the part of a gate that takes texts.
type Gate interface {
	// ReadsTexts reports whether a policy needs texts.
	ReadsTexts() bool
	AddTexts(ctx context.Context, o session.Owner, conversation string, t gate.Texts) error
}

// Key identifies a text, or a list of texts, by its hash.
type Key [16]byte

// Text is a text of a request.
type Text struct {
	Source flow.Source
	Key    Key
	// Read returns the text for the gate, called only for a text that is new; false if the model
	// does not receive it.
	Read func() (gate.Text, bool)
}

// Request is a request of a conversation.
type Request struct {
	Owner session.Owner
	// Named reports that the client named the session. Other sessions were guessed.
	Named bool
	// Continues is the id of the response whose texts precede those of List, "" if List begins the
	// conversation. Known reports that the gate released that response in this session.
	Continues string
	Known     bool
	// Delegated reports that the client marks the request as one of a sub-agent: the model of
	// another conversation wrote its user messages.
	Delegated bool
	// Unseen lists ids of content that the model reads and that no request had.
	Unseen []string
	List   []Text
	// Failed receives errors of the gate. It may be nil.
	Failed func(what string, err error)
}

// Tracker knows which texts the gate has. It is safe for concurrent use.
type Tracker struct {
	gate     Gate
	sessions recent.Map[session.Owner, mark]
	seed     maphash.Seed // of prompts
	prompts  recent.Map[prompt, struct{}]
	messages recent.Map[written, struct{}] // ids of messages of models

	mu       sync.Mutex // guards branches, and the fields of each
	branches recent.Map[head, *branch]
}

// New returns a tracker that reports to a gate.
func New(g Gate) *Tracker { return &Tracker{gate: g, seed: maphash.MakeSeed()} }

// head is the newest state of a conversation in a guessed session.
type head struct {
	owner session.Owner
	chain Key
}

// branch is a conversation in a guessed session.
type branch struct {
	id    string
	heads []head
	mark  mark
	last  *Report // the newest request
}

// mark is the part of a conversation that the gate has: the hash of a number of texts, and the hash
// of the system texts, which clients change in their place.
type mark struct {
	texts         int
	chain, system Key
}

// Begin starts the report of a request. It returns nil if no policy needs texts.
func (k *Tracker) Begin(r Request) *Report {
	if k == nil || !k.gate.ReadsTexts() {
		return nil
	}
	return &Report{tracker: k, Request: r, done: make(chan struct{})}
}

// find returns the branch that a request continues, nil if there is none. The branch has no head
// until the request was added: another request begins another branch meanwhile. chain has the
// hashes of the request's texts, from those of none to those of all.
func (k *Tracker) find(r *Report, chain []Key) *branch {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(chain) - 1; i >= 0; i-- {
		if b, ok := k.branches.Get(head{r.Owner, chain[i]}); ok {
			k.behead(b)
			b.last = r
			return b
		}
	}
	return nil
}

// behead removes the heads of a branch; mu is held.
func (k *Tracker) behead(b *branch) {
	for _, h := range b.heads {
		k.branches.Take(h)
	}
	b.heads = nil
}

// put makes a state a head of a branch whose newest request is r.
func (k *Tracker) put(r *Report, chain Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := r.branch; b.last == r {
		h := head{r.Owner, chain}
		b.heads = append(b.heads, h)
		k.branches.Put(h, b)
	}
}

// forget makes the next request of a conversation report all texts of its history.
func (k *Tracker) forget(r *Report) {
	if r.branch == nil {
		k.sessions.Take(r.Owner)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.branch.last == r {
		k.behead(r.branch)
	}
}

// chains returns the hashes of the prefixes of a list of keys, which follow a first state.
func chains(first Key, keys []Key) []Key {
	list := make([]Key, 1, len(keys)+1)
	list[0] = first
	for _, key := range keys {
		sum := sha256.Sum256(append(append(make([]byte, 0, 2*len(key)), list[len(list)-1][:]...), key[:]...))
		list = append(list, Key(sum[:len(key)]))
	}
	return list
}

// responseKey is the state of a conversation whose newest text is a response.
func responseKey(id string) Key {
	if id == "" {
		return Key{}
	}
	return KeyOf("response", id)
}

// KeyOf returns the key of a list of texts.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return Key(h.Sum(nil)[:len(Key{})])
}
