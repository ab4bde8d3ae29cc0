package approve_test

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/store"
)

// A program that answers the questions of a gate itself: it watches the queue, which the gate
// asks.
func ExampleQueue() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	state := store.Memory()
	queue, err := approve.New(state, approve.Options{})
	if err != nil {
		panic(err)
	}
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte("version = 1\n[tools.deploy.policy]\nrun = \"ask\"\n")}}, policy.Options{})
	if program == nil {
		panic(found)
	}
	g, err := gate.New(program, gate.WithStore(state), gate.WithApprover(queue))
	if err != nil {
		panic(err)
	}
	watching := make(chan struct{}, 1)
	go queue.Watch(ctx, func(open []approve.Entry) error {
		select {
		case watching <- struct{}{}:
		default:
		}
		for _, e := range open {
			if e.State == approve.Waiting && e.Complete {
				queue.Answer(ctx, e.ID, approve.Reply{Kind: approve.Yes, By: "ann", Seen: e.Binding.Hash()})
			}
		}
		return nil
	})
	<-watching
	out, err := g.Decide(ctx, stopgate.Call{Tool: "deploy", Session: "s", Args: []byte(`{}`)})
	fmt.Println(out.Status, out.Approval.By, err)
	// Output: allowed ann <nil>
}
