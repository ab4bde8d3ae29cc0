package events_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/gateway/events"
)

// capitals is a policy with one hook: everything but text passes as it came.
type capitals struct{}

func (capitals) Name() string { return "capitals" }

func (capitals) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return s.SendText(strings.ToUpper(delta), false)
}

// output is what a test needs of a stream.
type output struct {
	events.Stream
	text string
}

func (o *output) SendText(text string, _ bool) error {
	o.text += text
	return nil
}

// A gateway takes policies as Options.Policies. A test calls their hooks with an output of its own.
func Example() {
	var out output
	for _, delta := range []string{"hello ", "there"} {
		if err := (capitals{}).OnContentDelta(context.Background(), &events.Exchange{}, &out, &events.Content{}, delta); err != nil {
			panic(err)
		}
	}
	fmt.Println(out.text)
	// Output: HELLO THERE
}
