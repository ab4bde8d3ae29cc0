// Package kept is the stored form of the texts of a session, which `[flow] keep_text` keeps for
// replay: what surfaces added, one [Addition] for each segment of the session's log, so that a
// [flow.Reader] of another policy can read them again.
//
//	text := (&kept.Addition{Message: m}).Append(nil)
//	a, err := kept.Parse(text)
//	segment := a.Add(reader, index)
package kept

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// MaxLog limits the texts that are kept of one log, in bytes.
const MaxLog = 16 << 20

// LogID names the log with a key of hashes, in records and in stores. It reveals nothing of the key.
func LogID(key []byte) string {
	sum := sha256.Sum256(append([]byte("stopgate texts\n"), key...))
	return hex.EncodeToString(sum[:12])
}

// Addition is what one step adds to the texts of a session: exactly one member is set.
type Addition struct {
	Known   flow.Knowledge
	Message *flow.Message
	Call    *Call
	Result  *flow.Result
}

// Call is a released call, which a model wrote.
type Call struct {
	Tool stopgate.ToolName
	Args []byte
}

// Add adds the texts to an index, by the sources of a reader.
func (a *Addition) Add(r flow.Reader, to flow.Index) (segment []byte) {
	switch {
	case a.Message != nil:
		return r.Message(to, a.Message)
	case a.Call != nil:
		return r.Call(to, a.Call.Tool, a.Call.Args)
	case a.Result != nil:
		return r.Result(to, a.Result)
	case a.Known != 0:
		return r.Knows(to, a.Known)
	}
	return nil
}

// Redact replaces every text by its redacted form, and reports whether one differs.
func (a *Addition) Redact(redact func(text []byte) (clean []byte, changed bool)) (changed bool) {
	one := func(text []byte) []byte {
		if len(text) == 0 {
			return text
		}
		clean, differs := redact(text)
		changed = changed || differs
		return clean
	}
	switch {
	case a.Message != nil:
		m := *a.Message
		m.Text = one(m.Text)
		a.Message = &m
	case a.Call != nil:
		a.Call = &Call{a.Call.Tool, one(a.Call.Args)}
	case a.Result != nil:
		r := *a.Result
		r.Args, r.Data = one(r.Args), one(r.Data)
		a.Result = &r
	}
	return changed
}

// version begins a stored addition; the kind follows.
const version = 1

const (
	isKnown byte = iota + 1
	isMessage
	isCall
	isResult
)

// The bits of the flags of messages and results.
const (
	released = 1 << iota
	failed
	opaque
	answer
	noArgs // Args is nil: they are not known
)

// Append appends the stored form.
func (a *Addition) Append(dst []byte) []byte {
	w := writer{append(dst, version)}
	switch {
	case a.Message != nil:
		m := a.Message
		w.bytes(isMessage, flag(m.Opaque, opaque)|flag(m.Answer, answer))
		w.text([]byte(m.Source), m.Text, []byte(m.ID))
	case a.Call != nil:
		w.bytes(isCall, 0)
		w.text([]byte(a.Call.Tool), a.Call.Args)
	case a.Result != nil:
		r := a.Result
		w.bytes(isResult, flag(r.Released, released)|flag(r.Failed, failed)|flag(r.Opaque, opaque)|flag(r.Args == nil, noArgs))
		w.text([]byte(r.Tool), []byte(r.Call), []byte(r.Proposal), r.Args, r.Data)
	default:
		w.bytes(isKnown, byte(a.Known))
	}
	return w.dst
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

type writer struct{ dst []byte }

func (w *writer) bytes(b ...byte) { w.dst = append(w.dst, b...) }

func (w *writer) text(list ...[]byte) {
	for _, text := range list {
		w.dst = append(binary.AppendUvarint(w.dst, uint64(len(text))), text...)
	}
}

// Errors of [Parse].
var (
	errVersion = errors.New("parse a kept text: its version is unknown: a newer stopgate wrote it")
	errDamaged = errors.New("parse a kept text: it is damaged")
)

// Parse parses a stored addition. It shares memory with it.
func Parse(text []byte) (a Addition, err error) {
	switch {
	case len(text) == 0 || text[0] != version:
		return a, errVersion
	case len(text) < 3:
		return a, errDamaged
	}
	kind, flags := text[1], text[2]
	r := reader{rest: text[3:]}
	switch kind {
	case isKnown:
		a.Known = flow.Knowledge(flags)
	case isMessage:
		a.Message = &flow.Message{Source: flow.Source(r.text()), Text: r.text(), ID: string(r.text()), Opaque: flags&opaque != 0, Answer: flags&answer != 0}
	case isCall:
		a.Call = &Call{Tool: stopgate.ToolName(r.text()), Args: r.text()}
	case isResult:
		a.Result = &flow.Result{
			Tool: stopgate.ToolName(r.text()), Call: stopgate.CallID(r.text()), Proposal: stopgate.ProposalID(r.text()), Args: r.text(), Data: r.text(),
			Released: flags&released != 0, Failed: flags&failed != 0, Opaque: flags&opaque != 0,
		}
		if flags&noArgs != 0 {
			a.Result.Args = nil
		}
	default:
		return a, errVersion
	}
	if r.bad || len(r.rest) > 0 {
		return Addition{}, errDamaged
	}
	return a, nil
}

// reader reads texts. After a fault every text is empty.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) text() []byte {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(len(r.rest)-size) {
		r.rest, r.bad = nil, true
		return nil
	}
	text := r.rest[size : size+int(n) : size+int(n)]
	r.rest = r.rest[size+int(n):]
	return text
}
