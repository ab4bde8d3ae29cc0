package wire

import (
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Answer is what a response says about itself, for traces and numbers (WIRE 10.1).
// Nothing is decided by it.
type Answer struct {
	Begun     bool // something of it was read
	ID, Model string
	Finish    []string // the reasons why choices ended, as the upstream wrote them
	Tokens    Tokens
}

// Tokens are the counters of a response. The input counts what was read from a cache
// and what was written into it as well, in every dialect.
type Tokens struct {
	Known                                              bool
	Input, Output, CacheRead, CacheCreation, Reasoning int64
}

// The bounds of what an upstream can write into an answer.
const (
	maxAnswerText = 128
	maxFinish     = 8
)

// Read reads the members id, model and usage of an object; later counters replace
// earlier ones.
func (a *Answer) Read(object jsonstream.Value) {
	a.Begun = true
	for key, into := range map[string]*string{"id": &a.ID, "model": &a.Model} {
		if v, ok := object.Get(key); ok && v.Kind() == jsonstream.String && *into == "" {
			*into = short(v.Text())
		}
	}
	usage, _ := object.Get("usage")
	if usage.Kind() == jsonstream.Object {
		a.Tokens.read(usage)
	}
}

// Finished notes why a choice ended.
func (a *Answer) Finished(reason jsonstream.Value) {
	if reason.Kind() == jsonstream.String && len(a.Finish) < maxFinish {
		a.Finish = append(a.Finish, short(reason.Text()))
	}
}

// short is a text of the upstream as telemetry may carry it.
func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxAnswerText)], "") }

// read reads the counters of any dialect.
func (t *Tokens) read(usage jsonstream.Value) {
	t.Known = true
	number := func(into *int64, path ...string) bool {
		v := usage
		for _, key := range path {
			v, _ = v.Get(key)
		}
		d, ok := v.Decimal()
		if !ok {
			return false
		}
		n, ok := d.Int64()
		if ok && n >= 0 {
			*into = n
		}
		return ok
	}
	if number(&t.Input, "prompt_tokens") { // Chat
		number(&t.CacheRead, "prompt_tokens_details", "cached_tokens")
		number(&t.Output, "completion_tokens")
		number(&t.Reasoning, "completion_tokens_details", "reasoning_tokens")
		return
	}
	number(&t.Output, "output_tokens")
	number(&t.Reasoning, "output_tokens_details", "reasoning_tokens")
	if number(&t.CacheRead, "input_tokens_details", "cached_tokens") { // Responses
		number(&t.Input, "input_tokens")
		return
	}
	// Anthropic counts what came from a cache apart, and not all of it in every event.
	fresh := t.Input - t.CacheRead - t.CacheCreation
	number(&fresh, "input_tokens")
	number(&t.CacheRead, "cache_read_input_tokens")
	number(&t.CacheCreation, "cache_creation_input_tokens")
	t.Input = max(fresh, 0) + t.CacheRead + t.CacheCreation
}
