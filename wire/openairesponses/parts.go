package openairesponses

import (
	"bytes"
	"crypto/sha256"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// maxParts bounds the commands of one call that are streamed ahead.
const maxParts = 1024

// piece handles an event that streams a part of the arguments of a shell_call or
// an apply_patch_call. These calls are judged by their finished item; what came
// before must say the same (L5).
func (c *calls) piece(k *call, at, text jsonstream.Value, whole bool) {
	n := 0
	if at.IsValid() {
		var ok bool
		if n, ok = wire.Small(at); !ok {
			c.refuse(k, stopgate.CodeProtocolViolation)
		}
	}
	if n >= maxParts {
		c.refuse(k, stopgate.CodeLimitExceeded)
	}
	if k.over {
		return
	}
	p := k.parts[n]
	if p == nil {
		p = &part{joined: sha256.New()}
		if k.parts == nil {
			k.parts = map[int]*part{}
		}
		k.parts[n] = p
	}
	said := c.decoded(text)
	if !whole {
		p.joined.Write(said)
		return
	}
	sum := sha256.Sum256(said)
	empty := sha256.Sum256(nil)
	if joined := p.joined.Sum(nil); bytes.Equal(joined, empty[:]) {
		p.joined.Write(said)
	} else if !bytes.Equal(joined, sum[:]) {
		p.bad = true
	}
}

// checkParts compares what was streamed with the finished arguments.
func (c *calls) checkParts(k *call, args jsonstream.Value) {
	if k.over || len(k.parts) == 0 {
		return
	}
	commands, _ := args.Get("commands")
	for n, p := range k.parts {
		said, _ := args.Get("diff")
		if k.kind == shell {
			said, _ = commands.Index(n)
		}
		sum := sha256.Sum256(c.decoded(said))
		if p.bad || !bytes.Equal(p.joined.Sum(nil), sum[:]) {
			c.refuse(k, stopgate.CodeEnvelopeMismatch)
			return
		}
	}
}
