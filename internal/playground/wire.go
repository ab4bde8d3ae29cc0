package playground

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/provider/anthropic/content"
	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// Sent is what leaves the gate when a call has ended.
type Sent struct {
	Status string `json:"status"`
	// Asks reports that a person is asked first: this is sent after a yes.
	Asks bool `json:"asks"`
	// Envelope is the result for the model, of programs that embed the gate.
	Envelope stopgate.Envelope `json:"envelope"`
	// Args are the arguments that run, byte for byte; "" if none do.
	Args string `json:"args,omitempty"`
	// Held is the number of bytes of the model's stream that the gateway kept back until then, and
	// Stream is the rest of the stream as the client receives it, in Anthropic Messages.
	Held   int    `json:"held"`
	Stream string `json:"stream"`
}

// Send ends a call after all its bytes, as if a person approved every question, and returns what the
// gate and the gateway send.
func (p *Policy) Send(ctx context.Context, c Call) (s Sent, err error) {
	r, err := p.open(ctx, c)
	if err != nil {
		return s, err
	}
	defer r.pending.Cancel(ctx)
	r.pending.Feed(c.Args)
	v := r.pending.Close(stopgate.Ended)
	out, err := r.pending.Resolve(ctx)
	if err != nil {
		return s, err
	}
	s = Sent{Status: out.Status.String(), Asks: out.Allowed() && (v.Mode == stopgate.Ask || v.Mode == stopgate.Edit), Envelope: out.Envelope(), Args: string(out.Args)}
	s.Stream, s.Held, err = stream(c, out)
	return s, err
}

// stream plays the call as a model's stream through the codec of the gateway, and returns the part
// that leaves it with the outcome.
func stream(c Call, out stopgate.Outcome) (text string, held int, err error) {
	turn := script.Turn{Calls: []script.Call{{Tool: c.Tool, Args: string(c.Args)}}}
	var upstream []byte
	err = content.Script.Stream(&script.Answer{Turn: turn, Model: "model"}, func(event []byte, _, _ int) error {
		upstream = append(upstream, event...)
		return nil
	})
	if err != nil {
		return "", 0, err
	}
	codec := anthropic.Dialect{}.Stream(&provider.Request{Stream: true}, discard{}, provider.Options{})
	d := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{})
	d.Feed(upstream)
	var ev sse.Event
	var client []byte
	for {
		ok, err := d.Next(&ev)
		if err != nil || !ok {
			return string(client), held, err
		}
		before := len(client)
		var need provider.Need
		if client, need, err = codec.Event(client, &ev); err != nil {
			return "", 0, fmt.Errorf("the gateway ends the response: %w", err)
		}
		if len(client) == before {
			held += len(ev.AppendTo(nil))
		}
		if need == provider.Resolve {
			if client, err = codec.Release(client, []provider.CallOutcome{outcomeOf(c, out)}, nil); err != nil {
				return "", 0, err
			}
		}
	}
}

// outcomeOf is the outcome as the gateway passes it to a codec.
func outcomeOf(c Call, out stopgate.Outcome) provider.CallOutcome {
	if out.Allowed() {
		return provider.CallOutcome{Allowed: true, Args: out.Args}
	}
	v := out.Verdict
	return provider.CallOutcome{
		Text: provider.DenialText(stopgate.ToolName(c.Tool), v.Rule != nil, v.Public, v.Code), Result: provider.DenialEnvelope(v.Code, v.Public),
	}
}

// discard is a sink: the gate has the call already.
type discard struct{}

// Event implements [provider.Sink].
func (discard) Event(*stopgate.Event) {}
