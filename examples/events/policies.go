package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
)

// shout changes texts as they arrive. It has one hook, so calls, reasoning and usage are
// forwarded without it.
type shout struct{}

func (shout) Name() string { return "shout" }

func (shout) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return s.SendText(strings.ToUpper(delta), false)
}

// titles needs the whole text: it sends no deltas, and the changed text at its end.
type titles struct{}

func (titles) Name() string { return "titles" }

func (titles) OnContentDelta(context.Context, *events.Exchange, events.Stream, *events.Content, string) error {
	return nil
}

func (titles) OnContentComplete(_ context.Context, _ *events.Exchange, s events.Stream, b *events.Content) error {
	word := false
	return s.SendText(strings.Map(func(r rune) rune {
		first := !word
		if word = unicode.IsLetter(r); word && first {
			return unicode.ToTitle(r)
		}
		return r
	}, b.Text), false)
}

// reviewer decides about complete calls. All exchanges share the policy; the state of an
// exchange is in its scratchpad.
type reviewer struct {
	harmful   func(ctx context.Context, tool stopgate.ToolName, args string) (float64, string, error)
	threshold float64
}

func (reviewer) Name() string { return "reviewer" }

func (p reviewer) OnToolCallComplete(ctx context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	if s.IsOutputFinished() {
		x.Count("skipped")
		x.Emit(events.Event{Type: "review.skipped", Summary: "skipped " + string(b.Name)})
		return nil
	}
	probability, why, err := p.harmful(ctx, b.Name, b.Arguments)
	if err != nil {
		return err // the response ends as a failure, and no call runs
	}
	x.Count("judged")
	if probability < p.threshold {
		x.Emit(events.Event{Type: "review.passed", Summary: "passed " + string(b.Name)})
		return s.Send(events.BlockChunk(b))
	}
	x.Count("blocked")
	x.Scratchpad["reason"] = why
	x.Emit(events.Event{Type: "review.blocked", Summary: "blocked " + string(b.Name), Severity: events.Warning})
	return s.SendText("BLOCKED: "+string(b.Name)+" - "+why, true)
}

func (reviewer) OnStreamComplete(_ context.Context, x *events.Exchange) error {
	x.Emit(events.Event{Type: "review.summary", Summary: "the exchange is over", Details: x.Scratchpad})
	return nil
}

// gatekeeper refuses requests for models that are not listed, before they go to the provider.
type gatekeeper struct{ models map[string]bool }

func (gatekeeper) Name() string { return "gatekeeper" }

func (p gatekeeper) OnRequest(_ context.Context, x *events.Exchange, _ *events.Request) error {
	if !p.models[x.Model] {
		return &events.Rejection{Status: 403, Message: fmt.Sprintf("The model %q is not for this team.", x.Model)}
	}
	return nil
}

// signature appends to the texts of a response: in the body of one that is not streamed,
// at the end of every text of one that is.
type signature struct{ text string }

func (signature) Name() string { return "signature" }

func (p signature) OnResponse(_ context.Context, _ *events.Exchange, r *events.Response) error {
	return r.EditTexts(func(_ *events.Content, text string) string { return text + p.text })
}

func (p signature) OnContentComplete(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content) error {
	return s.SendText(p.text, false)
}
