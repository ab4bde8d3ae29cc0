package audit

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/jsonstream"
)

// Keep is how much is stored of the arguments of a row (S13). Rows themselves contain only
// hashes, so deleting arguments does not change the chain.
type Keep uint8

// The zero Keep stores no arguments.
const (
	KeepNone     Keep = iota
	KeepRedacted      // without the values that a [Redactor] removes
	KeepFull
)

var keepNames = [...]string{"none", "redacted", "full"}

// String returns the setting as it is written in the policy file.
func (k Keep) String() string { return keepNames[min(int(k), len(keepNames)-1)] }

// UnmarshalText parses the setting; an unknown one is an error.
func (k *Keep) UnmarshalText(text []byte) error {
	i := slices.Index(keepNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is not full, redacted or none", text)
	}
	*k = Keep(i)
	return nil
}

// redactedText replaces a value that was removed.
const redactedText = "[redacted]"

// Redactor removes secrets from arguments: the values at configured pointers, and text
// anywhere that has the form of a key or a token. The zero Redactor has no pointers and no
// patterns.
type Redactor struct {
	pointers []jsonstream.Pointer
	tokens   func() []*regexp.Regexp // if nil, there are none
	patterns []*regexp.Regexp
}

// tokens are patterns of secrets with a form of their own.
var tokens = []string{
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`,
	`\b(AKIA|ASIA)[0-9A-Z]{16}\b`,                                 // AWS
	`\bgh[pousr]_[0-9A-Za-z]{36,}|\bgithub_pat_[0-9A-Za-z_]{22,}`, // GitHub
	`\bglpat-[0-9A-Za-z_-]{20,}`,                                  // GitLab
	`\bsk-[0-9A-Za-z_-]{20,}`,                                     // OpenAI, Anthropic
	`\bxox[abeoprs]-[0-9A-Za-z-]{10,}`,                            // Slack
	`\bAIza[0-9A-Za-z_-]{35}`,                                     // Google
	`\beyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]*`, // JSON Web Token
	`(?i)\b(authorization|proxy-authorization)["']?\s*[:=]\s*["']?(bearer|basic|token)\s+[^\s"']+`,
	`(?i)\b[a-z0-9_]*(password|passwd|secret|api_?key|access_?token)["']?\s*[:=]\s*["']?[^\s"',;&]{4,}`,
	`\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]+@`, // a password in a URL
}

// wellKnown compiles tokens, when the first arguments are redacted.
func wellKnown() (all []*regexp.Regexp) {
	for _, t := range tokens {
		all = append(all, regexp.MustCompile(t))
	}
	return all
}

// NewRedactor returns a Redactor that removes the values at the pointers (RFC 6901; the
// token * matches every member and element), all text in strings that matches one of the
// patterns (RE2), and well-known forms of secrets. It returns an error if a pointer or a
// pattern is invalid.
func NewRedactor(pointers, patterns []string) (*Redactor, error) {
	r := &Redactor{}
	var errs []error
	for _, p := range pointers {
		pointer, err := jsonstream.ParsePointer(p)
		if err != nil {
			errs = append(errs, fmt.Errorf("pointer %q: %w", p, err))
		}
		r.pointers = append(r.pointers, pointer)
	}
	for _, p := range patterns {
		pattern, err := regexp.Compile(p)
		if err != nil {
			errs = append(errs, fmt.Errorf("pattern %q: %w", p, err))
		}
		r.patterns = append(r.patterns, pattern)
	}
	r.tokens = sync.OnceValue(wellKnown)
	return r, errors.Join(errs...)
}

// Redact returns the arguments without their secrets, and the pointers of the changed
// values in the order of the text. All other bytes stay. It returns an error for a text
// that is not JSON, because the end of a secret in it is unknown.
func (r *Redactor) Redact(args []byte) (text []byte, changed []string, err error) {
	var doc jsonstream.Document
	if err := doc.Scan(args, jsonstream.Options{}); err != nil {
		return nil, nil, fmt.Errorf("redact: %w", err)
	}
	w := redaction{Redactor: r, patterns: r.patterns}
	if r.tokens != nil {
		w.patterns = slices.Concat(r.tokens(), r.patterns)
	}
	w.value(nil, doc.Root())
	if len(w.edits) == 0 {
		return args, nil, nil
	}
	text, err = jsonstream.Splice(nil, args, w.edits)
	return text, w.changed, err
}

// redaction is one walk over arguments.
type redaction struct {
	*Redactor
	patterns []*regexp.Regexp
	edits    []jsonstream.Edit
	changed  []string
}

func (w *redaction) value(at jsonstream.Pointer, v jsonstream.Value) {
	switch kind := v.Kind(); {
	case w.named(at):
		w.replace(at, v, []byte(redactedText))
	case kind == jsonstream.String:
		text := v.AppendText(nil)
		clean := text
		for _, p := range w.patterns {
			clean = p.ReplaceAllLiteral(clean, []byte(redactedText))
		}
		if string(clean) != string(text) {
			w.replace(at, v, clean)
		}
	case kind == jsonstream.Object:
		for key, member := range v.Members() {
			w.value(append(at[:len(at):len(at)], key.Text()), member)
		}
	case kind == jsonstream.Array:
		i := 0
		for element := range v.Elements() {
			w.value(append(at[:len(at):len(at)], fmt.Sprint(i)), element)
			i++
		}
	}
}

func (w *redaction) named(at jsonstream.Pointer) bool {
	return slices.ContainsFunc(w.pointers, func(pointer jsonstream.Pointer) bool {
		return slices.EqualFunc(pointer, at, func(token, key string) bool { return token == "*" || token == key })
	})
}

func (w *redaction) replace(at jsonstream.Pointer, v jsonstream.Value, text []byte) {
	start, end := v.Span()
	w.edits = append(w.edits, jsonstream.Edit{Start: start, End: end, Text: jsonstream.AppendQuote(nil, text)})
	w.changed = append(w.changed, at.String())
}
