package encoding

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// UnmarshalFact reads what MarshalFact writes, and the JSON of earlier versions.
func UnmarshalFact(stored []byte, names compact.Names) (f session.Fact, err error) {
	text, err := compact.Expand(nil, stored, names)
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return session.Fact{}, fmt.Errorf("fact of a session: %w", err)
	}
	return f, nil
}

// UnmarshalCell reads what MarshalCell writes, and the JSON of earlier versions. An empty text is the zero cell.
func UnmarshalCell(stored []byte) (session.Cell, error) {
	if len(stored) == 0 {
		return session.Cell{}, nil
	}
	text, err := compact.Expand(nil, stored, nil)
	if err != nil {
		return session.Cell{}, fmt.Errorf("read cell of a session: %w", err)
	}
	c, ok := readCell(text)
	if !ok {
		c = session.Cell{}
		if err := json.Unmarshal(text, &c); err != nil {
			return session.Cell{}, fmt.Errorf("read cell of a session: %w", err)
		}
	}
	if c.Call.Fact == nil && c.Call != (session.Issued{}) {
		return session.Cell{}, errors.New("read cell of a session: call without its released fact")
	}
	return c, nil
}

// readCell reads a cell as [MarshalCell] writes it. ok is false for unknown members and for
// invalid values, which encoding/json then reads or refuses.
func readCell(text []byte) (c session.Cell, ok bool) {
	root, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true, MaxBytes: math.MaxInt64})
	if err != nil {
		return session.Cell{}, false
	}
	r := reader{ok: true}
	for key, v := range root.Members() {
		switch key.Text() {
		case "permits":
			c.Permits = items(&r, v, r.permit)
		case "broken":
			c.Broken = r.uint(v)
		case "count":
			c.Count = r.int(v)
		case "sum":
			c.Sum = r.amount(v)
		case "steps":
			c.Steps = items(&r, v, r.step)
		case "open":
			c.Open = r.opens(v)
		case "past":
			c.Past = r.opens(v)
		case "back":
			c.Refunds = items(&r, v, r.refund)
		case "lost":
			c.Lost = r.uint(v)
		case "text":
			c.Text = r.text(v)
		case "was":
			c.Was = r.was(v)
		case "seq":
			c.Seq = r.uint(v)
		case "at":
			c.At = r.int(v)
		case "self":
			c.Self = r.condition(v)
		case "call":
			r.ok = r.ok && json.Unmarshal(v.Raw(), &c.Call) == nil
		default:
			r.ok = false
		}
	}
	if !r.ok {
		return session.Cell{}, false
	}
	return c, true
}

// reader reads values; ok is false from the first invalid value on.
type reader struct{ ok bool }

func (r *reader) is(v jsonstream.Value, k jsonstream.Kind) bool {
	if v.Kind() != k {
		r.ok = false
	}
	return r.ok
}

func (r *reader) int(v jsonstream.Value) int64 {
	if !r.is(v, jsonstream.Number) {
		return 0
	}
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	r.ok = r.ok && err == nil
	return n
}

func (r *reader) uint(v jsonstream.Value) uint64 {
	if !r.is(v, jsonstream.Number) {
		return 0
	}
	n, err := strconv.ParseUint(string(v.Raw()), 10, 64)
	r.ok = r.ok && err == nil
	return n
}

func (r *reader) text(v jsonstream.Value) string {
	r.is(v, jsonstream.String)
	return v.Text()
}

func (r *reader) flag(v jsonstream.Value) bool {
	if v.Kind() != jsonstream.True {
		r.is(v, jsonstream.False)
		return false
	}
	return true
}

func (r *reader) amount(v jsonstream.Value) (a session.Amount) {
	if err := a.UnmarshalText([]byte(r.text(v))); err != nil {
		r.ok = false
	}
	return a
}

// items reads a list of objects. member reads one member and reports whether it knows it.
func items[T any](r *reader, v jsonstream.Value, member func(*T, string, jsonstream.Value) bool) []T {
	if !r.is(v, jsonstream.Array) {
		return nil
	}
	out := make([]T, v.Len())
	i := 0
	for e := range v.Elements() {
		members(r, e, &out[i], member)
		i++
	}
	return out
}

func members[T any](r *reader, v jsonstream.Value, into *T, member func(*T, string, jsonstream.Value) bool) {
	if !r.is(v, jsonstream.Object) {
		return
	}
	for key, m := range v.Members() {
		if !member(into, key.Text(), m) {
			r.ok = false
		}
	}
}

func (r *reader) permit(p *session.Permit, key string, v jsonstream.Value) bool {
	switch key {
	case "seq":
		p.Seq = r.uint(v)
	case "at":
		p.At = r.int(v)
	case "certain":
		p.Certain = r.flag(v)
	case "observed":
		p.Observed = r.flag(v)
	case "hash":
		p.Hash = r.text(v)
	case "text":
		p.Text = r.text(v)
	default:
		return false
	}
	return true
}

func (r *reader) step(s *session.Step, key string, v jsonstream.Value) bool {
	switch key {
	case "at":
		s.At = r.int(v)
	case "count":
		s.Count = r.int(v)
	case "sum":
		s.Sum = r.amount(v)
	default:
		return false
	}
	return true
}

// opens reads calls as lists or objects.
func (r *reader) opens(v jsonstream.Value) []session.Open {
	if !r.is(v, jsonstream.Array) {
		return nil
	}
	out := make([]session.Open, v.Len())
	i := 0
	for e := range v.Elements() {
		if e.Kind() == jsonstream.Array {
			r.compactOpen(e, &out[i])
		} else {
			members(r, e, &out[i], r.open)
		}
		i++
	}
	return out
}

// compactOpen reads a call in the form of a list.
func (r *reader) compactOpen(v jsonstream.Value, o *session.Open) {
	n := 0
	for e := range v.Elements() {
		switch n {
		case 0:
			o.Proposal = stopgate.ProposalID(r.text(e))
		case 1:
			o.At = r.int(e)
		case 2:
			o.Seq = r.uint(e)
		case 3:
			o.Args = r.sum(e)
		case 4:
			o.Held = r.flag(e)
		}
		n++
	}
	r.ok = r.ok && (n == 4 || n == 5 && o.Held)
}

// sum reads a SHA-256.
func (r *reader) sum(v jsonstream.Value) string {
	var sum [sha256.Size]byte
	text := r.text(v)
	if len(text) != base64.RawURLEncoding.EncodedLen(len(sum)) {
		r.ok = false
		return ""
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(sum[:], []byte(text)); err != nil || n != len(sum) { // Decode skips line ends
		r.ok = false
	}
	return hex.EncodeToString(sum[:])
}

func (r *reader) open(o *session.Open, key string, v jsonstream.Value) bool {
	switch key {
	case "proposal":
		o.Proposal = stopgate.ProposalID(r.text(v))
	case "at":
		o.At = r.int(v)
	case "seq":
		o.Seq = r.uint(v)
	case "args_hash":
		o.Args = r.text(v)
	case "held":
		o.Held = r.flag(v)
	default:
		return false
	}
	return true
}

func (r *reader) refund(b *session.Refund, key string, v jsonstream.Value) bool {
	switch key {
	case "seq":
		b.Seq = r.uint(v)
	case "at":
		b.At = r.int(v)
	case "amount":
		b.Amount = r.amount(v)
	default:
		return false
	}
	return true
}

func (r *reader) was(v jsonstream.Value) *session.Was {
	w := new(session.Was)
	members(r, v, w, func(w *session.Was, key string, v jsonstream.Value) bool {
		switch key {
		case "text":
			w.Text = r.text(v)
		case "seq":
			w.Seq = r.uint(v)
		default:
			return false
		}
		return true
	})
	return w
}

func (r *reader) condition(v jsonstream.Value) *session.Condition {
	c := new(session.Condition)
	members(r, v, c, func(c *session.Condition, key string, v jsonstream.Value) bool {
		switch key {
		case "denials":
			c.Denials = int(r.int(v))
		case "same":
			c.Same = int(r.int(v))
		case "last":
			c.LastHash = r.text(v)
		case "spoke":
			c.Spoke = r.uint(v)
		case "heard":
			c.LastMessage = r.text(v)
		case "rewinds":
			c.Rewinds = items(r, v, r.span)
		case "snapshots":
			c.Snapshots = r.uint(v)
		case "restored":
			c.Restored = r.uint(v)
		case "degraded":
			c.Degraded = r.flag(v)
		default:
			return false
		}
		return true
	})
	return c
}

func (r *reader) span(s *session.Span, key string, v jsonstream.Value) bool {
	switch key {
	case "after":
		s.After = r.uint(v)
	case "to":
		s.To = r.uint(v)
	default:
		return false
	}
	return true
}
