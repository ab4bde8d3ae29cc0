package gate

import (
	"bytes"
	"time"

	"github.com/stopgate/stopgate"
)

// arguments are what has come of them, and what would run.
type arguments struct {
	received int64  // bytes
	raw      []byte // as they came, in observe mode and for a recorder that keeps them
	watches  bool   // session policies can deny the call by one argument
	closing  bool   // Close has begun
	ended    bool   // they came to their end

	final        []byte // the complete ones that would run; the evaluation's
	hash         string // SHA-256 in hex of the canonical text
	releasedHash string // SHA-256 in hex of the very bytes that may run, if somebody wants to know
	redacted     string // as a tracer may see them
}

// maxRaw bounds what observe mode keeps of a call: the limit on arguments.
// Of a longer one the surface has the bytes, see Outcome.Args.
const maxRaw = 16 << 20

// maxKept bounds what a recorder keeps of the arguments of a call that was refused
// before they were judged to their end.
const maxKept = 1 << 20

// Feed takes the next bytes of the arguments and returns the verdict so far: the
// last of the transitions that [Pending.Trace] lists. After a terminal verdict and
// after Close the bytes are discarded.
func (p *pending) Feed(chunk []byte) stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.feed(chunk)
	return p.verdict()
}

// feed is Feed with p.mu held.
func (p *pending) feed(chunk []byte) {
	if p.stage != feeding || p.closing {
		return
	}
	for p.watches && !p.terminal {
		// A string ends at a quotation mark: the pieces end where one may be complete.
		n := bytes.IndexByte(chunk, '"') + 1
		if n == 0 {
			break
		}
		p.consume(chunk[:n])
		chunk = chunk[n:]
		if pointer, value, ok := p.watched(); ok {
			p.watches = false
			p.checkEarly(pointer, value)
		}
	}
	p.consume(chunk)
}

// consume hands bytes to the evaluation; p.mu is held.
func (p *pending) consume(chunk []byte) {
	p.received += int64(len(chunk))
	if p.under.observe && p.received <= maxRaw || p.g.audit.can.KeepsArguments && p.received <= maxKept {
		p.raw = append(p.raw, chunk...)
	}
	if !p.terminal {
		p.evaluate(func() { p.eval.Feed(chunk) })
	}
}

// Close ends the arguments and returns the verdict of integrity, rules and session
// policies. A second Close changes nothing (K51).
func (p *pending) Close(end stopgate.End) stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(end)
	return p.verdict()
}

// close is Close with p.mu held.
func (p *pending) close(end stopgate.End) {
	if p.stage != feeding || p.closing {
		return
	}
	p.closing = true
	if p.g.tracer != nil {
		p.complete = time.Now()
	}
	if !p.terminal {
		p.evaluate(func() {
			p.eval.Close(end)
			p.acceptArguments()
		})
	}
	p.checkSessionsAtClose()
	p.announce()
	if p.stage == feeding {
		p.stage, p.ended = closed, end == stopgate.Ended
	}
}
