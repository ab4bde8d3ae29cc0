package auditrow

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// rowWriter writes the members of rows as encoding/json does, which needs more time for its
// tables of stopgate.Record than a process for one call needs for its row. Rare members are
// written by encoding/json.
type rowWriter struct {
	dst []byte
	err error
}

// row writes a row in the order of stopgate.Record. Zero values are omitted where the
// record omits them.
func (w *rowWriter) row(r *stopgate.Record) {
	w.dst = append(w.dst, '{')
	w.int("v", int64(r.Version))
	w.int("seq", r.Seq)
	w.text("chain", r.Chain)
	w.text("gate", r.Gate)
	w.key("time")
	w.dst = append(w.dst, '"')
	if w.dst, w.err = r.Time.AppendText(w.dst); w.err != nil {
		return
	}
	w.dst = append(w.dst, '"')
	w.string("kind", string(r.Kind))
	w.text("event", string(r.Event))
	w.text("id", string(r.ID))
	w.text("parent", string(r.Parent))
	w.text("session", string(r.Session))
	w.text("principal", string(r.Principal))
	other(w, "groups", r.Groups, r.Groups.Known())
	w.text("surface", string(r.Surface))
	w.text("dialect", r.Dialect)
	w.text("agent", string(r.Agent))
	w.text("turn", string(r.Turn))
	w.text("tool", string(r.Tool))
	w.text("call_id", string(r.CallID))
	w.text("handoff", string(r.Handoff))
	w.text("args_hash", r.ArgsHash)
	w.intIf("args_bytes", r.ArgsBytes)
	w.text("released_hash", r.ReleasedHash)
	w.text("status", string(r.Status))
	if r.Mode != nil {
		w.string("mode", r.Mode.String())
	}
	w.text("layer", string(r.Layer))
	w.text("code", string(r.Code))
	w.text("cause", r.Cause)
	if r.Rule != nil {
		w.rule(r.Rule)
	}
	other(w, "candidates", r.Candidates, len(r.Candidates) > 0)
	w.text("pointer", r.Pointer)
	other(w, "segment", r.Segment, r.Segment != nil)
	if r.DecidedAt != nil {
		w.int("decided_at", *r.DecidedAt)
	}
	other(w, "floors", r.Floors, len(r.Floors) > 0)
	other(w, "objections", r.Objections, len(r.Objections) > 0)
	other(w, "origins", r.Origins, len(r.Origins) > 0)
	other(w, "judge", r.Judge, r.Judge != nil)
	other(w, "external", r.External, len(r.External) > 0)
	other(w, "approval", r.Approval, r.Approval != nil)
	if r.FactsAt != 0 {
		w.key("facts_at")
		w.dst = strconv.AppendUint(w.dst, r.FactsAt, 10)
	}
	if t := r.Texts; t != nil {
		w.key("texts")
		w.dst = append(w.dst, '{')
		w.string("log", t.Log)
		w.key("number")
		w.dst = append(strconv.AppendUint(w.dst, t.Number, 10), '}')
	}
	w.text("policy", r.Policy)
	other(w, "unversioned", r.Unversioned, len(r.Unversioned) > 0)
	other(w, "bundle", r.Bundle, r.Bundle != nil)
	w.text("definition", r.Definition)
	w.text("path_resolution", r.PathResolution)
	if r.Context != nil {
		w.context(r.Context)
	}
	if r.Enforced != nil {
		w.key("enforced")
		w.dst = strconv.AppendBool(w.dst, *r.Enforced)
	}
	w.intIf("count", r.Count)
	other(w, "usage", r.Usage, r.Usage != nil)
	other(w, "checkpoint", r.Checkpoint, r.Checkpoint != nil)
	w.string("prev", r.Prev)
	w.string("hash", r.Hash)
	w.dst = append(w.dst, '}')
}

func (w *rowWriter) rule(r *stopgate.RuleRef) {
	w.key("rule")
	w.dst = append(w.dst, '{')
	w.string("file", r.File)
	w.int("line", int64(r.Line))
	w.int("index", int64(r.Index))
	w.text("id", string(r.ID))
	w.dst = append(w.dst, '}')
}

func (w *rowWriter) context(c *stopgate.Context) {
	w.key("context")
	w.dst = append(w.dst, '{')
	w.text("root", c.Root)
	w.text("dir", c.Dir)
	w.text("home", c.Home)
	w.text("run", c.Run)
	w.true("run_doubt", c.RunDoubt)
	w.true("run_lost", c.RunLost)
	w.text("server", string(c.Server))
	w.true("pinned", c.Pinned)
	w.text("session_data", c.SessionData)
	w.true("cut", c.Cut)
	w.dst = append(w.dst, '}')
}

func (w *rowWriter) true(name string, is bool) {
	if is {
		w.key(name)
		w.dst = append(w.dst, "true"...)
	}
}

func (w *rowWriter) key(name string) {
	if w.dst[len(w.dst)-1] != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *rowWriter) int(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

func (w *rowWriter) intIf(name string, n int64) {
	if n != 0 {
		w.int(name, n)
	}
}

func (w *rowWriter) text(name, s string) {
	if s != "" {
		w.string(name, s)
	}
}

// string writes a text. encoding/json also escapes characters that end lines outside of
// JSON.
func (w *rowWriter) string(name, s string) {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		other(w, name, s, true)
		return
	}
	w.key(name)
	w.dst = jsonstream.AppendQuote(w.dst, s)
}

// other writes a member, if it is present, with encoding/json.
func other[T any](w *rowWriter, name string, value T, there bool) {
	if !there || w.err != nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	w.err = enc.Encode(value)
	w.key(name)
	w.dst = append(w.dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
