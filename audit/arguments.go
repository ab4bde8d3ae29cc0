package audit

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/jsonstream"
)

// Keep says what is kept of the arguments behind a row (DECISIONS S13). Rows
// themselves hold hashes only, so that deleting arguments touches no chain.
type Keep uint8

// The zero Keep keeps nothing.
const (
	KeepNone     Keep = iota
	KeepRedacted      // without the values that a [Redactor] takes out
	KeepFull
)

var keepNames = [...]string{"none", "redacted", "full"}

// String spells the setting as the policy file does.
func (k Keep) String() string { return keepNames[min(int(k), len(keepNames)-1)] }

// UnmarshalText reads the setting; an unknown one is an error.
func (k *Keep) UnmarshalText(text []byte) error {
	i := slices.Index(keepNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is not full, redacted or none", text)
	}
	*k = Keep(i)
	return nil
}

// Redacted is what stands in the place of a value that was taken out.
const Redacted = "[redacted]"

// Redactor takes secrets out of arguments: the values at given places, and what
// looks like a key or a token anywhere. The zero Redactor knows no place and no
// pattern.
type Redactor struct {
	places   []jsonstream.Pointer
	tokens   func() []*regexp.Regexp // nil: none
	patterns []*regexp.Regexp
}

// tokens are what secrets look like that have a form of their own.
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

// wellKnown compiles tokens. Nobody pays for it who redacts nothing.
func wellKnown() (all []*regexp.Regexp) {
	for _, t := range tokens {
		all = append(all, regexp.MustCompile(t))
	}
	return all
}

// NewRedactor takes out the values at the pointers (RFC 6901; a token * stands for
// every member and element) and everything that one of the patterns (RE2) matches
// in a string, beside the forms of well-known secrets.
func NewRedactor(pointers, patterns []string) (*Redactor, error) {
	r := &Redactor{}
	var errs []error
	for _, p := range pointers {
		place, err := jsonstream.ParsePointer(p)
		if err != nil {
			errs = append(errs, fmt.Errorf("pointer %q: %w", p, err))
		}
		r.places = append(r.places, place)
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

// Redact returns arguments without their secrets and the pointers of the values
// that were changed, in the order of the text. Every other byte stays. A text that
// is no JSON is an error: nobody knows where its secrets end.
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
		w.replace(at, v, []byte(Redacted))
	case kind == jsonstream.String:
		text := v.AppendText(nil)
		clean := text
		for _, p := range w.patterns {
			clean = p.ReplaceAllLiteral(clean, []byte(Redacted))
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
	return slices.ContainsFunc(w.places, func(place jsonstream.Pointer) bool {
		return slices.EqualFunc(place, at, func(token, key string) bool { return token == "*" || token == key })
	})
}

func (w *redaction) replace(at jsonstream.Pointer, v jsonstream.Value, text []byte) {
	start, end := v.Span()
	w.edits = append(w.edits, jsonstream.Edit{Start: start, End: end, Text: jsonstream.AppendQuote(nil, text)})
	w.changed = append(w.changed, at.String())
}
