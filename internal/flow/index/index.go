package index

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
)

// Options are the settings of an index.
type Options struct {
	// Budget is the length of the texts that are kept, 0 for [DefaultBudget].
	Budget int64
	// LastUser limits the source user to the texts of the person's latest message. Earlier ones count
	// as suspected.
	LastUser bool
}

// DefaultBudget is the length of the texts that an index keeps.
const DefaultBudget = 8 << 20

// Limits of what an index keeps beyond its texts. After them it assumes the worst.
const (
	maxBatches = 1 << 20
	maxSets    = 1 << 12
	maxTools   = 1 << 12
)

// Index implements [flow.Index].
type Index struct {
	hasher *hasher
	budget int64

	adding sync.Mutex   // held while a batch is added, so that it is scanned before mu is locked
	mu     sync.RWMutex // guards the rest, and the volumes
	state  *state
	chains [chains][]*volume
	// written is set once texts that a call wrote were dropped.
	lostWritten bool
	batches     map[uint64]struct{}
	setNumbers  map[string]uint16
}

var _ flow.Index = (*Index)(nil)

// New returns an empty index. key is the secret of its hashes; segments are for indexes with the
// same key.
func New(key []byte, o Options) *Index {
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	h := newHasher(key)
	return &Index{hasher: h, budget: o.Budget, state: &state{lastUser: o.LastUser}, batches: map[uint64]struct{}{}, setNumbers: map[string]uint16{}}
}

// Add adds a batch and returns its segment, nil if the index has a batch with its key.
func (ix *Index) Add(b *Batch) (segment []byte) {
	ix.adding.Lock()
	defer ix.adding.Unlock()
	if len(b.Key) > 0 && ix.Has(b.Key) {
		return nil
	}
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	r := ix.record(b, s)
	segment = ix.hasher.encode(r)
	ix.mu.Lock()
	ix.apply(r)
	ix.mu.Unlock()
	return segment
}

// Restore adds the batch of a segment, or of several in a row. After an error texts are missing: every
// query then has a doubt.
func (ix *Index) Restore(segment []byte) error {
	ix.adding.Lock()
	defer ix.adding.Unlock()
	records, err := ix.hasher.decode(segment)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err != nil {
		s := *ix.state
		s.damaged = true
		ix.state = &s
		return err
	}
	for _, r := range records {
		ix.apply(r)
	}
	return nil
}

// Has reports whether the index has a batch with this key, or a mark.
func (ix *Index) Has(key []byte) bool {
	if len(key) == 0 {
		return false
	}
	h := ix.hasher.batch(key)
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	_, ok := ix.batches[h]
	return ok
}

// Written reports whether a call with an effect may have written a value: whether a reading of it
// occurs in a text of its arguments.
func (ix *Index) Written(value []byte, kind flow.Kind) bool {
	reading := occur.Value(value, &flow.Query{Kind: kind, Weak: true})
	if reading.Open {
		return true
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.lostWritten || ix.state.damaged {
		return true
	}
	steps := maxSteps
	var n needle
	var found anyText
	for i := range reading.Loose {
		n.set(ix.hasher, &reading.Loose[i], false)
		for _, v := range ix.chains[writtenChain] {
			n.search(v, len(v.sets), &steps, &found)
			if found || steps < 0 {
				return true
			}
		}
	}
	return false
}

// anyText is a sink that is set by a text.
type anyText bool

func (*anyText) begin() {}

func (a *anyText) text(int) bool {
	*a = true
	return false
}

// View returns the texts so far.
func (ix *Index) View() flow.View {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return &view{ix: ix, state: ix.state}
}

// Size returns the memory of the index in bytes, and the length of the texts that it has.
func (ix *Index) Size() (index, text int64) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for _, chain := range ix.chains {
		for _, v := range chain {
			index += v.size()
			text += v.length
		}
	}
	return index + 24*int64(len(ix.batches)), text
}

// record scans a batch. The record has memory of the scanner.
func (ix *Index) record(b *Batch, s *scanner) *record {
	r := &record{know: b.Know, person: b.Person, repeats: b.Repeats, said: b.Said, anywhere: b.SaidAnywhere, result: b.Result, tool: string(b.Tool)}
	if len(b.Key) > 0 {
		r.batch = ix.hasher.batch(b.Key)
	}
	for _, m := range b.Marks {
		r.keys = append(r.keys, ix.hasher.batch(m))
	}
	numbers := map[string]uint32{}
	var name []byte
	r.texts = make([]entry, 0, len(b.Texts))
	for i := range b.Texts {
		t := &b.Texts[i]
		sources := withSuspected(t.Sources, t.Suspected)
		name = appendSet(name[:0], sources)
		n, ok := numbers[string(name)]
		if !ok {
			n = uint32(len(r.sets))
			numbers[string(name)] = n
			r.sets = append(r.sets, slices.Clone(sources))
		}
		r.texts = append(r.texts, entry{set: n, trusted: t.Trusted, opaque: t.Opaque, length: int64(len(t.Text)),
			tool: t.Ref.Tool, call: t.Ref.Call, proposal: t.Ref.Proposal, pointer: clip(t.Ref.Pointer), object: t.Object})
	}
	r.plan(ix.budget, ix.cost(trustedChain))
	length := int64(0)
	for i := range r.texts {
		if !r.texts[i].dropped {
			length += r.texts[i].length
		}
	}
	s.start(ix.hasher, r, length)
	if len(b.Texts) > 0 {
		s.echo(b.Echo)
	}
	for i := range r.texts {
		if !r.texts[i].dropped {
			e := &r.texts[i]
			e.plain, e.loose, e.atoms = s.scan(b.Texts[i].Text)
		}
	}
	s.own = 0
	for _, text := range b.Written {
		e := entry{length: int64(len(text))}
		if e.cost() > ix.budget || e.length > maxText {
			e.dropped = true
		} else {
			e.plain, e.loose, e.atoms = s.scan(text)
		}
		r.written = append(r.written, e)
	}
	r.words, r.atoms = s.words.hashes, s.atoms.hashes
	r.trimEcho()
	return r
}

// cost returns the cost of the volumes of a chain.
func (ix *Index) cost(chain int) (n int64) {
	for _, v := range ix.chains[chain] {
		n += v.cost
	}
	return n
}

// appendSet appends a set of sources in a form that no other set has.
func appendSet(dst []byte, sources []flow.Source) []byte {
	for _, s := range sources {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return dst
}
