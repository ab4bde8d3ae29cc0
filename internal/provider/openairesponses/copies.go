package openairesponses

import (
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// A response contains the arguments of a call up to four times. The first copy is
// evaluated. For the other copies only hashes are compared, with a key of the response, and
// every copy must have the same hash (L5). Released arguments are written from the
// evaluated value only, so a hash can cause a refusal, but never an execution.
//
// Providers encode all copies alike. A copy with the same encoding as the first one is
// equal to it, and is neither scanned nor decoded again.

// copies is the state of the copies of one call's arguments.
type copies struct {
	joined   *joined  // of the deltas; nil if there are none
	first    digest   // of the arguments in the item's first event
	hasFirst bool     // first is set
	sum      digest   // of the first complete copy
	encoded  encoding // of a text: as it is written between the quotes
	settled  bool     // sum is set
	text     []byte   // the first copy, decoded, of a call in a body
}

// joined hashes the chunks of a text.
type joined struct {
	text, raw maphash.Hash
	length    int // of raw
}

// digest identifies arguments: a text, or an object in any encoding.
type digest struct {
	text   uint64
	object [32]byte
}

// encoding identifies a text as it is written between the quotes.
type encoding struct {
	length int
	sum    uint64
}

// expected is used to find copies in an event before it is parsed.
type expected struct {
	seed   maphash.Seed
	next   int // index in list of the call whose copy is expected
	budget int // number of bytes that may still be compared in this event
}

// minCopy is the minimum length of a copy that is searched: scanning a shorter one is
// cheap.
const minCopy = 512

// expect prepares for an event with copies of the calls from this index on.
func (c *calls) expect(from int, event []byte) {
	c.next, c.budget = from, len(event)
}

// recognise is called by [jsonstream.Document] for every string of an event.
func (c *calls) recognise(rest []byte) int {
	for ; c.next < len(c.list); c.next++ {
		k := c.list[c.next]
		n := k.length()
		if n < minCopy {
			continue
		}
		if n >= len(rest) || rest[n] != '"' || n > c.budget {
			return 0
		}
		c.budget -= n
		if k.encoding().sum != maphash.Bytes(c.seed, rest[:n]) {
			return 0
		}
		c.next++
		return n
	}
	return 0
}

// length returns the current length of the first copy, as it is written between the quotes.
func (k *copies) length() int {
	if k.joined != nil {
		return k.joined.length
	}
	return k.encoded.length
}

func (k *copies) encoding() encoding {
	if k.joined != nil {
		return encoding{k.joined.length, k.joined.raw.Sum64()}
	}
	return k.encoded
}

// join adds a chunk of a text.
func (c *calls) join(k *call, piece, raw []byte) {
	if k.joined == nil {
		k.joined = new(joined)
		k.joined.text.SetSeed(c.seed)
		k.joined.raw.SetSeed(c.seed)
	}
	k.joined.text.Write(piece)
	k.joined.raw.Write(raw)
	k.joined.length += len(raw)
}

// encodingOf returns the encoding of a string.
func (c *calls) encodingOf(v jsonstream.Value) encoding {
	inside := inside(v)
	return encoding{len(inside), maphash.Bytes(c.seed, inside)}
}

// inside returns the bytes between the quotes of a string.
func inside(v jsonstream.Value) []byte {
	raw := v.Raw()
	return raw[1 : len(raw)-1]
}

// checkCopy processes a complete copy of a call's arguments. The first one is passed to the
// sink unless the arguments came in deltas; every further one must be equal (L5).
func (c *calls) checkCopy(k *call, v jsonstream.Value) {
	if k.ended {
		return
	}
	if k.joined != nil {
		k.sum.text, k.encoded = k.joined.text.Sum64(), k.encoding()
		k.settled, k.joined = true, nil
	}
	var sum digest
	var copied []byte
	var encoded encoding
	switch {
	case k.kind.Text() && v.Kind() == jsonstream.String:
		if encoded = c.encodingOf(v); k.settled && encoded == k.encoded {
			sum = k.sum
			break
		}
		copied = c.decoded(v)
		sum.text = maphash.Bytes(c.seed, copied)
	case !k.kind.Text() && v.Kind() == jsonstream.Object:
		copied = v.Raw()
		sum.object = jsonstream.HashCanonical(v)
	default:
		c.refuse(k, stopgate.CodeProtocolViolation)
		return
	}
	if !k.settled {
		k.sum, k.encoded, k.settled = sum, encoded, true
		if c.whole {
			k.text, c.text = copied, nil // which is in use until the release
		}
		c.feed(k, copied)
	}
	if k.sum != sum || k.hasFirst && k.first != sum {
		c.refuse(k, stopgate.CodeEnvelopeMismatch)
	}
}
