// Package kepttext applies `[audit] arguments` to the texts of sessions that a store keeps for
// replay: they hold what arguments hold, so that one setting covers both.
//
//	texts := kepttext.Of(change.Texts, change.After+1, o.Arguments, o.Redactor)
package kepttext

import (
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/jsonstream"
)

// Of returns the texts that a store keeps of those of a change, the first with a number. None are
// kept with audit.KeepNone; with audit.KeepRedacted secrets are removed, and a text in which they
// cannot be found is not kept.
func Of(texts [][]byte, first uint64, keep audit.Keep, r *audit.Redactor) (list []flow.KeptText) {
	if keep == audit.KeepNone {
		return nil
	}
	for i, text := range texts {
		if len(text) == 0 {
			continue
		}
		one := flow.KeptText{Number: first + uint64(i), Text: text}
		if keep == audit.KeepRedacted {
			if one.Text, one.Redacted = redact(text, r); one.Text == nil {
				continue
			}
		}
		list = append(list, one)
	}
	return list
}

// redact returns a stored text without secrets, nil if it cannot be read.
func redact(text []byte, r *audit.Redactor) (clean []byte, changed bool) {
	a, err := kept.Parse(text)
	if err != nil {
		return nil, false
	}
	unread := false
	changed = a.Redact(func(text []byte) ([]byte, bool) {
		clean, ok := redactText(text, r)
		unread = unread || !ok
		return clean, string(clean) != string(text)
	})
	switch {
	case unread:
		return nil, false
	case !changed:
		return text, false
	}
	return a.Append(nil), true
}

// redactText redacts JSON as arguments are, and other text as a string. It is not ok if no secret
// could be found because the text cannot be read.
func redactText(text []byte, r *audit.Redactor) (clean []byte, ok bool) {
	if clean, _, err := r.Redact(text); err == nil {
		return clean, true
	}
	quoted, changed, err := r.Redact(jsonstream.AppendQuote(nil, text))
	if err != nil {
		return nil, false
	}
	if changed == nil {
		return text, true
	}
	v, err := jsonstream.Parse(quoted, jsonstream.Options{})
	if err != nil {
		return nil, false
	}
	return v.AppendText([]byte{}), true
}
