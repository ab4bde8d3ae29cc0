package events

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/regular"
)

// ContentOnly lets texts through and no call: for a model that only talks (V3-18).
type ContentOnly struct{ As string }

// Name is As, or "content_only".
func (p ContentOnly) Name() string {
	if p.As == "" {
		return "content_only"
	}
	return p.As
}

// OnToolCallComplete sends no call on.
func (p ContentOnly) OnToolCallComplete(_ context.Context, x *Exchange, _ *Stream, b *Call) error {
	x.Emit(Event{Type: "content_only.dropped", Summary: "dropped a call of " + string(b.Name), Details: map[string]any{
		"dropped": x.Count(p.Name() + ".dropped"),
	}})
	return nil
}

// Redaction says what a redacting policy looks for.
type Redaction struct {
	Name string // "redact" if empty
	// Patterns are ECMA-262 patterns of what must not be seen. They match on their own:
	// what stands around a match cannot be looked at.
	Patterns []string
	// Replacement stands in the place of every match; "[redacted]" if empty.
	Replacement string
	// Longest is the length in characters up to which a match is found; 0 is 512. So much
	// text at most is held back while it may still become one.
	Longest int
	// Request redacts what goes to the provider, the conversation with all results of
	// tools; Response, which is on unless Request alone is, what the model writes.
	Request, Response bool
}

// maxLongest bounds Longest: a text that nearly matches costs as much per character.
const maxLongest = 4096

// Redact returns the policy. Matches are found wherever the provider cuts its text; only
// what may still become a match is held back.
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

// standsAlone refuses what asserts something about the text around a match.
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

// redact is what the forms of a redaction share.
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

// quick: feeding takes time linear in the text.
func (redactResponse) quick() {}

// OnContentDelta sends what can be no part of a match any more.
func (p redactResponse) OnContentDelta(_ context.Context, _ *Exchange, s *Stream, b *Content, delta string) error {
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

// OnContentComplete sends the rest.
func (p redactResponse) OnContentComplete(_ context.Context, x *Exchange, s *Stream, b *Content) error {
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
