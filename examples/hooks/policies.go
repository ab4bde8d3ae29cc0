package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/gateway/events"
)

// noOp has no hooks: everything passes.
type noOp struct{}

func (noOp) Name() string { return "no-op" }

// contentOnly forwards no chunk of a call. The turn then ends like one without calls.
type contentOnly struct{}

func (contentOnly) Name() string { return "content-only" }

func (contentOnly) OnToolCallDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Call, _ string) error {
	return s.DropSilently()
}

// judge asks a reviewer about every complete call.
type judge struct {
	review    func(ctx context.Context, arguments string) (probability float64, why string)
	threshold float64
}

func (judge) Name() string { return "judge" }

func (p judge) OnToolCallComplete(ctx context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	if s.IsOutputFinished() {
		x.Count("skipped")
		x.Emit(events.Event{Type: "judge.skipped", Summary: "skipped " + string(b.Name)})
		return nil
	}
	probability, why := p.review(ctx, b.Arguments)
	x.Count("judged")
	if probability < p.threshold {
		x.Emit(events.Event{Type: "judge.passed", Summary: fmt.Sprintf("passed %s (p=%.2f)", b.Name, probability)})
		return s.Send(events.BlockChunk(b))
	}
	x.Count("blocked")
	x.Emit(events.Event{Type: "judge.blocked", Summary: fmt.Sprintf("blocked %s (p=%.2f)", b.Name, probability), Severity: events.Warning})
	return s.SendText(fmt.Sprintf("BLOCKED: %s - %s", b.Name, why), true)
}

func (judge) OnStreamComplete(_ context.Context, x *events.Exchange) error {
	count := func(name string) int { n, _ := x.Scratchpad[name].(int); return n }
	x.Emit(events.Event{Type: "judge.summary", Summary: fmt.Sprintf("%d judged, %d blocked, %d skipped", count("judged"), count("blocked"), count("skipped"))})
	return nil
}

// patient reviews several calls at once. What follows Await runs in the order of the calls.
type patient struct{ judge }

func (patient) Name() string { return "patient" }

func (p patient) OnToolCallComplete(ctx context.Context, _ *events.Exchange, s events.Stream, b *events.Call) error {
	var probability float64
	s.Await(func() { probability, _ = p.review(ctx, b.Arguments) })
	if probability >= p.threshold {
		return s.SendText("Not "+b.Arguments+". ", false)
	}
	return s.Send(events.BlockChunk(b))
}

func (patient) OnStreamComplete(context.Context, *events.Exchange) error { return nil }

// contentTransform changes text as it arrives.
type contentTransform struct{}

func (contentTransform) Name() string { return "content-transform" }

func (contentTransform) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return s.SendText(strings.ToUpper(delta), false)
}

// enough ends the response at its first call and stops the model.
type enough struct{}

func (enough) Name() string { return "enough" }

func (enough) OnToolCallComplete(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Call) error {
	if s.IsOutputFinished() {
		return nil
	}
	s.Stop()
	return nil
}

// report says at the end of the text what became of the calls.
type report struct{}

func (report) Name() string { return "report" }

func (report) OnFinishReason(_ context.Context, x *events.Exchange, s events.Stream, _ string) error {
	return s.SendText(fmt.Sprintf("[%d judged, %d blocked]", x.Calls.Judged, x.Calls.Blocked), false)
}

// review is the reviewer of the example: what deletes is harmful.
func review(_ context.Context, arguments string) (float64, string) {
	if strings.Contains(arguments, "rm ") {
		return 0.9, "it deletes files"
	}
	return 0.1, ""
}
