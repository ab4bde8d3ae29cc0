package encoding

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Cells and facts are written without encoding/json, in the compact form of the same text: a process that decides
// one call would spend more time on building the type tables of that package than on the
// text. Tests compare the two. Only open and past calls have a shorter form.

// MarshalCell writes a cell for a store.
func MarshalCell(c session.Cell) []byte { return compact.Append(nil, cellText(c), nil) }

// cellText writes a cell as JSON.
func cellText(c session.Cell) []byte {
	w := object(make([]byte, 0, 256))
	list(&w, "permits", c.Permits, func(w *writer, p *session.Permit) {
		w.uint("seq", p.Seq)
		w.int("at", p.At)
		w.flag("certain", p.Certain)
		w.flag("observed", p.Observed)
		w.text("hash", p.Hash)
		w.text("text", p.Text)
	})
	w.uintIf("broken", c.Broken)
	w.intIf("count", c.Count)
	w.amount("sum", c.Sum)
	list(&w, "steps", c.Steps, func(w *writer, s *session.Step) {
		w.int("at", s.At)
		w.int("count", s.Count)
		w.amount("sum", s.Sum)
	})
	w.opens("open", c.Open)
	w.opens("past", c.Past)
	list(&w, "back", c.Refunds, func(w *writer, b *session.Refund) {
		w.uint("seq", b.Seq)
		w.int("at", b.At)
		w.amount("amount", b.Amount)
	})
	w.uintIf("lost", c.Lost)
	w.text("text", c.Text)
	if c.Was != nil {
		w.begin("was")
		w.text("text", c.Was.Text)
		w.uintIf("seq", c.Was.Seq)
		w.end()
	}
	w.uintIf("seq", c.Seq)
	w.intIf("at", c.At)
	if c.Call != (session.Issued{}) {
		w.begin("call")
		w.key("fact")
		w.factOrNull(c.Call.Fact)
		w.text("done", string(c.Call.Done))
		if c.Call.End != nil {
			w.key("end")
			w.factOrNull(c.Call.End)
		}
		w.end()
	}
	if c.Self != nil {
		w.condition(c.Self)
	}
	w.end()
	return w.dst
}

// MarshalFact writes a fact for a store with names, which may be nil.
func MarshalFact(f *session.Fact, names compact.Names) []byte {
	return compact.Append(nil, factText(f), names)
}

// factText writes a fact as JSON.
func factText(f *session.Fact) []byte {
	w := writer{dst: make([]byte, 0, 1024)}
	w.factOrNull(f)
	return w.dst
}

// writer appends the members of objects.
type writer struct{ dst []byte }

func object(dst []byte) writer { return writer{append(dst, '{')} }

func (w *writer) key(name string) {
	if w.dst[len(w.dst)-1] != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *writer) begin(name string) {
	w.key(name)
	w.dst = append(w.dst, '{')
}

func (w *writer) end() { w.dst = append(w.dst, '}') }

func (w *writer) int(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

func (w *writer) uint(name string, n uint64) {
	w.key(name)
	w.dst = strconv.AppendUint(w.dst, n, 10)
}

func (w *writer) bool(name string, b bool) {
	w.key(name)
	w.dst = strconv.AppendBool(w.dst, b)
}

func (w *writer) string(name, s string) {
	w.key(name)
	w.dst = jsonstream.AppendQuote(w.dst, s)
}

// The methods below omit zero values.

func (w *writer) intIf(name string, n int64) {
	if n != 0 {
		w.int(name, n)
	}
}

func (w *writer) uintIf(name string, n uint64) {
	if n != 0 {
		w.uint(name, n)
	}
}

func (w *writer) flag(name string, b bool) {
	if b {
		w.bool(name, b)
	}
}

func (w *writer) text(name, s string) {
	if s != "" {
		w.string(name, s)
	}
}

func (w *writer) amount(name string, a session.Amount) {
	if !a.IsZero() {
		w.string(name, a.String())
	}
}

// list writes a list of objects.
func list[T any](w *writer, name string, items []T, members func(*writer, *T)) {
	if len(items) == 0 {
		return
	}
	w.key(name)
	elements(w, items, members)
}

func elements[T any](w *writer, items []T, members func(*writer, *T)) {
	w.dst = append(w.dst, '[')
	for i := range items {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, '{')
		members(w, &items[i])
		w.end()
	}
	w.dst = append(w.dst, ']')
}

// opens writes calls as lists of four elements, or five for one whose result is withheld.
// Lists take little more than half the bytes of objects, so that a cell of many calls fits
// into its row of a database page. A call whose hash is not a lower-case SHA-256 is written
// as an object.
func (w *writer) opens(name string, calls []session.Open) {
	if len(calls) == 0 {
		return
	}
	w.key(name)
	w.dst = append(w.dst, '[')
	for i := range calls {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		o := &calls[i]
		sum, ok := sumOf(o.Args)
		if !ok {
			w.dst = append(w.dst, '{')
			w.open(o)
			w.end()
			continue
		}
		w.dst = jsonstream.AppendQuote(append(w.dst, '['), string(o.Proposal))
		w.dst = strconv.AppendInt(append(w.dst, ','), o.At, 10)
		w.dst = strconv.AppendUint(append(w.dst, ','), o.Seq, 10)
		w.dst = base64.RawURLEncoding.AppendEncode(append(w.dst, ',', '"'), sum[:])
		w.dst = append(w.dst, '"')
		if o.Held {
			w.dst = append(w.dst, ",true"...)
		}
		w.dst = append(w.dst, ']')
	}
	w.dst = append(w.dst, ']')
}

// sumOf decodes a SHA-256 in lower-case hex.
func sumOf(text string) (sum [sha256.Size]byte, ok bool) {
	if len(text) != hex.EncodedLen(len(sum)) {
		return sum, false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return sum, false
		}
	}
	_, err := hex.Decode(sum[:], []byte(text))
	return sum, err == nil
}

func (w *writer) open(o *session.Open) {
	w.string("proposal", string(o.Proposal))
	w.int("at", o.At)
	w.uint("seq", o.Seq)
	w.text("args_hash", o.Args)
	w.flag("held", o.Held)
}

func (w *writer) condition(c *session.Condition) {
	w.begin("self")
	w.intIf("denials", int64(c.Denials))
	w.intIf("same", int64(c.Same))
	w.text("last", c.LastHash)
	w.uintIf("spoke", c.Spoke)
	w.text("heard", c.LastMessage)
	list(w, "rewinds", c.Rewinds, func(w *writer, s *session.Span) {
		w.uint("after", s.After)
		w.uint("to", s.To)
	})
	w.uintIf("snapshots", c.Snapshots)
	w.uintIf("restored", c.Restored)
	w.flag("degraded", c.Degraded)
	w.end()
}

func (w *writer) factOrNull(f *session.Fact) {
	if f == nil {
		w.dst = append(w.dst, "null"...)
		return
	}
	w.dst = append(w.dst, '{')
	w.uint("seq", f.Seq)
	w.int("at", f.At)
	w.string("kind", string(f.Kind))
	w.text("proposal", string(f.Proposal))
	w.text("tool", string(f.Tool))
	w.text("call_id", string(f.CallID))
	w.text("agent", string(f.Agent))
	w.text("turn", string(f.Turn))
	w.text("args_hash", f.ArgsHash)
	w.text("code", string(f.Code))
	w.text("by", f.By)
	w.flag("observed", f.Observed)
	w.text("hash", f.Hash)
	list(w, "marks", f.Marks, (*writer).mark)
	if f.Release != nil {
		w.release(f.Release)
	}
	w.text("name", f.Name)
	if f.Key != (session.Key{}) {
		w.cellKey(&f.Key)
	}
	w.text("text", f.Text)
	w.uintIf("to", f.To)
	w.end()
}

func (w *writer) mark(m *session.Mark) {
	w.cellKey(&m.Key)
	w.flag("permits", m.Permits)
	w.flag("absent", m.Absent)
	w.flag("breaks", m.Breaks)
	w.flag("opens", m.Opens)
	w.flag("counts", m.Counts)
	w.flag("keeps", m.Keeps)
	w.flag("distrusts", m.Distrusts)
	w.amount("amount", m.Amount)
	w.intIf("step", m.Step)
}

func (w *writer) cellKey(k *session.Key) {
	w.begin("key")
	w.uintIf("scope", uint64(k.Scope))
	w.string("space", k.Space.String())
	w.text("name", k.Name)
	w.text("value", k.Value)
	w.end()
}

func (w *writer) release(r *session.Release) {
	w.begin("release")
	w.verdict(&r.Verdict)
	w.text("policy", r.Policy)
	w.text("handoff", string(r.Handoff))
	w.text("dialect", r.Dialect)
	w.text("surface", string(r.Surface))
	w.flag("observe", r.Observed)
	w.end()
}

// verdict uses the names of the Go fields, because the type has no JSON tags.
func (w *writer) verdict(v *stopgate.Verdict) {
	w.begin("verdict")
	w.bool("Decided", v.Decided)
	w.string("Mode", v.Mode.String())
	w.string("Layer", string(v.Layer))
	w.string("Code", string(v.Code))
	w.key("Rule")
	if r := v.Rule; r != nil {
		w.dst = append(w.dst, '{')
		w.string("file", r.File)
		w.int("line", int64(r.Line))
		w.int("index", int64(r.Index))
		w.text("id", string(r.ID))
		w.end()
	} else {
		w.null()
	}
	w.key("Candidates")
	if v.Candidates == nil {
		w.null()
	} else {
		w.dst = append(w.dst, '[')
		for i, n := range v.Candidates {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.dst = strconv.AppendInt(w.dst, int64(n), 10)
		}
		w.dst = append(w.dst, ']')
	}
	w.string("Pointer", v.Pointer)
	w.key("Segment")
	if s := v.Segment; s != nil {
		w.dst = append(w.dst, '{')
		w.int("index", int64(s.Index))
		w.int("of", int64(s.Of))
		w.text("text", s.Text)
		w.end()
	} else {
		w.null()
	}
	w.int("DecidedAt", v.DecidedAt)
	w.string("Public", v.Public)
	w.key("Floors")
	if v.Floors == nil {
		w.null()
	} else {
		elements(w, v.Floors, func(w *writer, f *stopgate.Floor) {
			w.string("mode", f.Mode.String())
			w.string("code", string(f.Code))
			w.text("pointer", f.Pointer)
			w.int("at", f.At)
		})
	}
	w.end()
}

func (w *writer) null() { w.dst = append(w.dst, "null"...) }
