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

func (capitals) OnContentDelta(_ context.Context, _ *events.Exchange, s *events.Stream, _ *events.Content, delta string) error {
	return s.SendText(strings.ToUpper(delta), false)
}

// Policies run in the order of their chain. A gateway takes them as Options.Policies.
func ExampleNewChain() {
	secrets, err := events.Redact(events.Redaction{Name: "secrets", Patterns: []string{`sk-[a-z0-9]{8}`}})
	if err != nil {
		panic(err)
	}
	chain, err := events.NewChain(secrets, capitals{})
	if err != nil {
		panic(err)
	}
	fmt.Println(chain.Names())
	// Output: [secrets capitals]
}
