package openairesponses

import (
	"bytes"
	"crypto/sha256"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxParts limits the streamed commands of one call.
const maxParts = 1024

// partEvent processes an event with a part of the arguments of a shell_call or an
// apply_patch_call. These calls are evaluated when their item is finished; the streamed
// parts must be equal to it (L5).
func (c *calls) partEvent(k *call, at, text jsonstream.Value, whole bool) {
	n := 0
	if at.IsValid() {
		var ok bool
		if n, ok = provider.SmallInt(at); !ok {
			c.refuse(k, stopgate.CodeProtocolViolation)
		}
	}
	if n >= maxParts {
		c.refuse(k, stopgate.CodeLimitExceeded)
	}
	if k.ended {
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
	decoded := c.decoded(text)
	if !whole {
		p.joined.Write(decoded)
		return
	}
	sum := sha256.Sum256(decoded)
	empty := sha256.Sum256(nil)
	if joined := p.joined.Sum(nil); bytes.Equal(joined, empty[:]) {
		p.joined.Write(decoded)
	} else if !bytes.Equal(joined, sum[:]) {
		p.contradicts = true
	}
}

// checkParts compares the streamed parts with the finished arguments.
func (c *calls) checkParts(k *call, args jsonstream.Value) {
	if k.ended || len(k.parts) == 0 {
		return
	}
	commands, _ := args.Get("commands")
	for n, p := range k.parts {
		want, _ := args.Get("diff")
		if k.kind == wire.Shell {
			want, _ = commands.Index(n)
		}
		sum := sha256.Sum256(c.decoded(want))
		if p.contradicts || !bytes.Equal(p.joined.Sum(nil), sum[:]) {
			c.refuse(k, stopgate.CodeEnvelopeMismatch)
			return
		}
	}
}
