package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// ContentOnly forwards text and drops every call, for models that must only talk.
type ContentOnly struct {
	As string
	// Silent: the client reads nothing in place of a call, instead of a notice.
	Silent bool
}

// Name returns As, or "content_only".
func (p ContentOnly) Name() string {
	if p.As == "" {
		return "content_only"
	}
	return p.As
}

// OnToolCallComplete drops the call.
func (p ContentOnly) OnToolCallComplete(_ context.Context, x *Exchange, s Stream, b *Call) error {
	x.Emit(Event{Type: "content_only.dropped", Summary: "dropped a call of " + string(b.Name), Details: map[string]any{
		"dropped": x.Count(p.Name() + ".dropped"),
	}})
	if p.Silent {
		return s.DropSilently()
	}
	return nil
}

// Redaction configures a policy that redacts text.
type Redaction struct {
	Name string // default "redact"
	// Patterns are ECMA-262 patterns of the text to redact. They cannot assert anything about the
	// text around a match.
	Patterns []string
	// Replacement replaces every match; default "[redacted]".
	Replacement string
	// Longest is the maximum length of a match in characters; default 512. At most that much text
	// is buffered while it may still become a match.
	Longest int
	// Request redacts requests: the conversation including tool results. Response redacts the
	// model's text; it is the default unless only Request is set.
	Request, Response bool
}

// maxLongest limits Longest: text that nearly matches costs time proportional to it per character.
const maxLongest = 4096

// Redact returns the policy. It finds matches across the provider's chunks and buffers only text
// that may still become a match.
func Redact(o Redaction) (Policy, error) {
	if o.Name == "" {
		o.Name = "redact"
	}
	if o.Replacement == "" {
		o.Replacement = "[redacted]"
	}
	if o.Longest == 0 {
		o.Longest = 512
	}
	if o.Longest < 1 || o.Longest > maxLongest {
		return nil, fmt.Errorf("redaction %s: the longest match has 1 to %d characters", o.Name, maxLongest)
	}
	if len(o.Patterns) == 0 {
		return nil, fmt.Errorf("redaction %s: no pattern", o.Name)
	}
	var all []*regular.Language
	for _, p := range o.Patterns {
		if err := standsAlone(p); err != nil {
			return nil, fmt.Errorf("redaction %s: pattern %q: %w", o.Name, p, err)
		}
		if _, err := regular.Compile(p); err != nil {
			return nil, fmt.Errorf("redaction %s: pattern %q: %w", o.Name, p, err)
		}
		whole, err := regular.Compile("^(?:" + p + ")$")
		if err != nil {
			return nil, fmt.Errorf("redaction %s: pattern %q: %w", o.Name, p, err)
		}
		if whole.Match(nil) {
			return nil, fmt.Errorf("redaction %s: pattern %q matches nothing at all, which is everywhere", o.Name, p)
		}
		all = append(all, whole.Language())
	}
	r := &redact{o: o, finders: newFinders(regular.Union(all...))}
	if r.finders == nil {
		return nil, fmt.Errorf("redaction %s: the patterns are too large together", o.Name)
	}
	switch {
	case o.Request && o.Response:
		return redactBoth{redactRequest{r}, redactResponse{r}}, nil
	case o.Request:
		return redactRequest{r}, nil
	}
	return redactResponse{r}, nil
}

var errAround = errors.New("it looks at what stands around a match (^, $, \\b, \\B or a lookaround)")

// standsAlone returns an error if a pattern asserts anything about the text around a match.
func standsAlone(p string) error {
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
			if !class && i < len(p) && (p[i] == 'b' || p[i] == 'B') {
				return errAround
			}
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '^' || c == '$':
			return errAround
		case c == '(' && i+2 < len(p) && p[i+1] == '?':
			rest := p[i+2:]
			if rest[0] == '=' || rest[0] == '!' || len(rest) > 1 && rest[0] == '<' && (rest[1] == '=' || rest[1] == '!') {
				return errAround
			}
		}
	}
	return nil
}

// redact is the common part of the request and response forms.
type redact struct {
	o       Redaction
	finders *finders
}

// Name implements [Policy].
func (r *redact) Name() string { return r.o.Name }

func (r *redact) tell(x *Exchange, where string, matches int) {
	if matches > 0 {
		x.Emit(Event{Type: "redact.replaced", Summary: "redacted the " + where, Details: map[string]any{"where": where, "matches": matches}})
	}
}

type redactRequest struct{ *redact }

// OnRequest redacts the conversation.
func (p redactRequest) OnRequest(_ context.Context, x *Exchange, req *Request) error {
	matches := 0
	err := req.EditTexts(func(text string) string {
		f := p.finders.get(p.o)
		defer p.finders.put(f)
		out := f.feed(text) + f.flush()
		matches += f.matches
		return out
	})
	p.tell(x, "request", matches)
	return err
}

type redactResponse struct{ *redact }

// Quick: the time of feed is linear in the text.
func (redactResponse) Quick() {}

// OnContentDelta sends the text that cannot be part of a match any longer.
func (p redactResponse) OnContentDelta(_ context.Context, _ *Exchange, s Stream, b *Content, delta string) error {
	f, ok := b.state.(*finder)
	if !ok {
		f = p.finders.get(p.o)
		b.state = f
	}
	if s.IsOutputFinished() {
		return nil
	}
	return s.SendText(f.feed(delta), false)
}

// OnContentComplete sends the rest of the text.
func (p redactResponse) OnContentComplete(_ context.Context, x *Exchange, s Stream, b *Content) error {
	f, ok := b.state.(*finder)
	if !ok {
		return nil
	}
	b.state = nil
	rest := f.flush()
	p.tell(x, "response", f.matches)
	p.finders.put(f)
	if s.IsOutputFinished() {
		return nil
	}
	return s.SendText(rest, false)
}

type redactBoth struct {
	redactRequest
	redactResponse
}

// Name implements [Policy].
func (p redactBoth) Name() string { return p.redactRequest.o.Name }
