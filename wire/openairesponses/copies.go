package openairesponses

import (
	"hash/maphash"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// A response says the arguments of a call up to four times (WIRE 3.4). The first
// time they are judged; afterwards only hashes of them are here, under a key of the
// response's own, and every further copy must have the same one (L5). What is
// released is written from the judged value alone, so that a hash decides about a
// refusal, never about what runs.
//
// Providers spell all copies alike. A copy that is spelled as the first one is
// equal to it, and neither scanned nor decoded again.

// copies is what is known of the argument text of one call.
type copies struct {
	joined  *joined  // of the deltas; nil without any
	first   digest   // of the arguments in the item's first event
	early   bool     // first is set
	sum     digest   // of the first complete copy
	spelled spelling // of a text: as it stood between quotes
	settled bool     // sum is set
}

// joined hashes the pieces of a text.
type joined struct {
	text, raw maphash.Hash
	length    int // of raw
}

// digest stands for arguments: for a text, or for an object in any spelling.
type digest struct {
	text   uint64
	object [32]byte
}

// spelling stands for a text between quotes.
type spelling struct {
	length int
	sum    uint64
}

// expected is for finding copies in an event before it is read.
type expected struct {
	seed   maphash.Seed
	next   int // of list: whose copy is expected
	effort int // how many bytes may still be compared in this event
}

// shortest is the length from which a copy is looked for: scanning less takes no
// time.
const shortest = 512

// expect prepares for an event with copies of the calls from one on.
func (c *calls) expect(from int, event []byte) {
	c.next, c.effort = from, len(event)
}

// recognise is asked about every string of an event, for [jsonstream.Document].
func (c *calls) recognise(rest []byte) int {
	for ; c.next < len(c.list); c.next++ {
		k := c.list[c.next]
		n := k.length()
		if n < shortest {
			continue
		}
		if n >= len(rest) || rest[n] != '"' || n > c.effort {
			return 0
		}
		c.effort -= n
		if k.spelling().sum != maphash.Bytes(c.seed, rest[:n]) {
			return 0
		}
		c.next++
		return n
	}
	return 0
}

// length is that of the first copy, as it stood between quotes, so far.
func (k *copies) length() int {
	if k.joined != nil {
		return k.joined.length
	}
	return k.spelled.length
}

func (k *copies) spelling() spelling {
	if k.joined != nil {
		return spelling{k.joined.length, k.joined.raw.Sum64()}
	}
	return k.spelled
}

// join takes a piece of a text.
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

// spell is the spelling of a string.
func (c *calls) spell(v jsonstream.Value) spelling {
	inside := within(v)
	return spelling{len(inside), maphash.Bytes(c.seed, inside)}
}

// within is what stands between the quotes of a string.
func within(v jsonstream.Value) []byte {
	raw := v.Raw()
	return raw[1 : len(raw)-1]
}

// whole takes a complete copy of a call's arguments: the first one is fed unless
// they came in deltas, and every further one must be equal (L5).
func (c *calls) whole(k *call, v jsonstream.Value) {
	if k.over {
		return
	}
	if k.joined != nil {
		k.sum.text, k.spelled = k.joined.text.Sum64(), k.spelling()
		k.settled, k.joined = true, nil
	}
	var sum digest
	var copied []byte
	var spelled spelling
	switch {
	case k.kind.text() && v.Kind() == jsonstream.String:
		if spelled = c.spell(v); k.settled && spelled == k.spelled {
			sum = k.sum
			break
		}
		copied = c.decoded(v)
		sum.text = maphash.Bytes(c.seed, copied)
	case !k.kind.text() && v.Kind() == jsonstream.Object:
		copied = v.Raw()
		sum.object = jsonstream.HashCanonical(v)
	default:
		c.refuse(k, stopgate.CodeProtocolViolation)
		return
	}
	if !k.settled {
		k.sum, k.spelled, k.settled = sum, spelled, true
		c.feed(k, copied)
	}
	if k.sum != sum || k.early && k.first != sum {
		c.refuse(k, stopgate.CodeEnvelopeMismatch)
	}
}
