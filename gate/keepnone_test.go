package gate_test

import (
	"errors"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// Texts that a policy does not keep are missing in every other process, and in this one after a
// restart: the store has that there were some, so that no later call is decided as if there were none.
func TestTextsThatAreNotKeptAreMissed(t *testing.T) {
	const text = `version = 1
[flow]
keep = "none"
[sources.web]
tool = "fetch"
[tools.fetch]
[tools.send]
policy.run = "unattended"
[[session]]
type = "flow"
after = ["web"]
before = ["send"]
`
	store := mem.New()
	first, err := gate.New(compile(t, text), gate.WithStore(store))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.AddTexts(ctx, ownerOf("s"), "", gate.Texts{Known: flow.KnowsUser, Whole: true, List: []gate.Text{user("hello")}}); err != nil {
		t.Fatal(err)
	}
	second, err := gate.New(compile(t, text), gate.WithStore(store))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.AddTexts(ctx, ownerOf("s"), "", gate.Texts{List: []gate.Text{user("more")}}); !errors.Is(err, gate.ErrTextsLost) {
		t.Errorf("texts were added to a conversation whose beginning is missing: %v", err)
	}
}
