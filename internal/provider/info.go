package provider

import (
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// ResponseInfo is the metadata of a response for traces and metrics. No decision depends on
// it.
type ResponseInfo struct {
	Started       bool // part of the response was read
	ID, Model     string
	FinishReasons []string // finish reasons of the choices, as written by the upstream
	Tokens        Tokens
}

// Tokens are the token counters of a response. In every dialect, Input includes the tokens
// that were read from a cache and those that were written to it.
type Tokens struct {
	Known                                              bool
	Input, Output, CacheRead, CacheCreation, Reasoning int64
}

// Limits of the texts that an upstream can write into a ResponseInfo.
const (
	maxInfoText = 128
	maxFinish   = 8
)

// Read reads the members id, model and usage of an object. Later counters replace earlier
// ones.
func (a *ResponseInfo) Read(object jsonstream.Value) {
	a.Started = true
	for key, into := range map[string]*string{"id": &a.ID, "model": &a.Model} {
		if v, ok := object.Get(key); ok && v.Kind() == jsonstream.String && *into == "" {
			*into = clip(v.Text())
		}
	}
	usage, _ := object.Get("usage")
	a.ReadUsage(usage)
}

// ReadUsage reads the counters of a response.
func (a *ResponseInfo) ReadUsage(usage jsonstream.Value) {
	if usage.Kind() == jsonstream.Object {
		a.Tokens.read(usage)
	}
}

// ReadNames reads the id and the model of a response.
func (a *ResponseInfo) ReadNames(id, model jsonstream.Value) {
	a.Started = true
	if a.ID == "" {
		a.ID = clip(id.Text())
	}
	if a.Model == "" {
		a.Model = clip(model.Text())
	}
}

// AddFinishReason adds the finish reason of a choice.
func (a *ResponseInfo) AddFinishReason(reason jsonstream.Value) {
	if reason.Kind() == jsonstream.String && len(a.FinishReasons) < maxFinish {
		a.FinishReasons = append(a.FinishReasons, clip(reason.Text()))
	}
}

// clip limits a text of the upstream to the length that telemetry carries.
func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxInfoText)], "") }

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
	// Anthropic counts cached tokens separately, and does not send all counters in every
	// event.
	fresh := t.Input - t.CacheRead - t.CacheCreation
	number(&fresh, "input_tokens")
	number(&t.CacheRead, "cache_read_input_tokens")
	number(&t.CacheCreation, "cache_creation_input_tokens")
	t.Input = max(fresh, 0) + t.CacheRead + t.CacheCreation
}
