package gate

import (
	"bytes"
	"encoding/hex"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/jsonstream"
)

// arguments are the arguments of a call: the bytes that came, and those that would run.
type arguments struct {
	received int64     // bytes
	raw      []byte    // as they came: in observe mode, for policies in Go, and for a recorder that keeps them
	lent     bool      // raw is in the outcome
	watches  bool      // session policies can deny the call by one argument
	closing  bool      // Close has begun
	ended    bool      // they came to their end
	complete time.Time // when the last byte came, for the tracer

	// Set by Close, and read only until the call is settled.
	final []byte // the complete ones that would run; the evaluation's
	own   []byte // a copy of final that is never changed, see copied
	hash  string // SHA-256 in hex of the canonical text
}

// maxRaw bounds the argument bytes that are kept in observe mode and for policies: the limit
// on arguments. The surface has the bytes of longer ones, see Outcome.Args.
const maxRaw = 16 << 20

// maxKept bounds the arguments that a recorder keeps of a call that was refused
// before they were judged to their end.
const maxKept = 1 << 20

// Feed takes the next bytes of the arguments and returns the verdict so far: the
// last of the transitions that [Pending.Trace] lists. After a terminal verdict and
// after Close the bytes are discarded.
func (p *pending) Feed(chunk []byte) stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage != feeding || p.args.closing {
		return *p.verdicts.latest()
	}
	for p.args.watches && !p.verdicts.terminal {
		// A string ends at a quotation mark: the pieces end where one may be complete.
		n := bytes.IndexByte(chunk, '"') + 1
		if n == 0 {
			break
		}
		p.consume(chunk[:n])
		chunk = chunk[n:]
		if pointer, value, ok := p.sessions.watched(); ok {
			p.args.watches = false
			p.sessions.checkEarly(pointer, value)
		}
	}
	p.consume(chunk)
	return *p.verdicts.latest()
}

// consume hands bytes to the evaluation; p.mu is held.
func (p *pending) consume(chunk []byte) {
	p.args.keep(chunk, p.under.observe || p.keepsRaw(), p.g.keepsArguments)
	if !p.verdicts.terminal {
		p.evaluate(func() { p.verdicts.eval.Feed(chunk) })
	}
}

// keep counts bytes and keeps them where they are needed once more.
func (a *arguments) keep(chunk []byte, whole, recorded bool) {
	a.received += int64(len(chunk))
	if whole && a.received <= maxRaw || recorded && a.received <= maxKept {
		if a.raw == nil {
			a.raw = *rawBuffers.Get().(*[]byte)
		}
		a.raw = append(a.raw, chunk...)
	}
}

// rawBuffers are those of the arguments as they came: most are not needed again.
var rawBuffers = sync.Pool{New: func() any { return new([]byte) }}

// settle gives up the buffers of the arguments.
func (a *arguments) settle() {
	if raw := a.raw[:0]; !a.lent && 0 < cap(raw) && cap(raw) <= maxReused {
		rawBuffers.Put(&raw)
	}
	a.final, a.own, a.raw = nil, nil, nil
}

// Close ends the arguments and returns the verdict of integrity, rules and session
// policies. A second Close has no effect (K51).
func (p *pending) Close(end stopgate.End) stopgate.Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage != feeding || p.args.closing {
		return *p.verdicts.latest()
	}
	p.args.closing = true
	if p.g.tracer != nil {
		p.args.complete = time.Now()
	}
	if !p.verdicts.terminal {
		p.evaluate(func() {
			p.verdicts.eval.Close(end)
			if p.args.accept(p.verdicts.eval) {
				p.verdicts.cause = p.verdicts.eval.Cause()
			}
		})
	}
	p.sessions.checkAtClose()
	p.sessions.announce()
	if p.stage == feeding {
		p.stage, p.args.ended = closed, end == stopgate.Ended
	}
	return *p.verdicts.latest()
}

// accept keeps the complete arguments of a call that may run.
func (a *arguments) accept(e Evaluation) (accepted bool) {
	root := e.Document().Root()
	if e.Latest().Terminal() || !root.IsValid() {
		return false
	}
	a.final, a.hash = e.Args(), rows.Hex(jsonstream.HashCanonical(root))
	return true
}

// maxReused is how many argument bytes a call may have for its buffers to serve another
// one.
const maxReused = 1 << 20

// released returns the arguments that run: a copy, because the next call reuses their
// buffer, unless they are too large for a buffer that is reused.
func (a *arguments) released() []byte {
	if a.received > maxReused {
		return a.final
	}
	return bytes.Clone(a.final)
}

// copied returns a copy of the complete arguments that would run, for the row of the call, its result
// and the texts of the session, which share it.
func (a *arguments) copied() []byte {
	if a.own == nil {
		a.own = bytes.Clone(a.final)
	}
	return a.own
}

// releasedHash returns the hash of the canonical arguments that run: those that were judged,
// unless a path was cleaned (K4).
func (a *arguments) releasedHash(judged Evaluation) string {
	if judged == nil || bytes.Equal(judged.Document().Text(), a.final) {
		return a.hash
	}
	v, err := jsonstream.Parse(a.final, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return a.hash
	}
	sum := jsonstream.HashCanonical(v)
	return hex.EncodeToString(sum[:])
}

// forRow returns the arguments that belong to the hash of a row, and that hash. Those of a call
// that was refused early were not judged to their end: they count if they are one value.
func (a *arguments) forRow() (args []byte, hash string) {
	if a.final != nil {
		return a.copied(), a.hash
	}
	if !a.ended || int64(len(a.raw)) != a.received {
		return nil, a.hash
	}
	v, err := jsonstream.Parse(a.raw, jsonstream.Options{})
	if err != nil {
		return nil, a.hash
	}
	sum := jsonstream.HashCanonical(v)
	return bytes.Clone(a.raw), hex.EncodeToString(sum[:])
}
