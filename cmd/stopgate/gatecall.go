package main

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// judge sends one call through the gate up to the point where somebody would be
// asked (K30): no approver, no record, nothing released.
func judge(ctx context.Context, l loaded, call stopgate.Call, args []byte) (stopgate.Verdict, error) {
	g, err := gate.New(l.program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return stopgate.Verdict{}, err
	}
	return judgeWith(ctx, g, call, args)
}

func judgeWith(ctx context.Context, g *gate.Gate, call stopgate.Call, args []byte) (stopgate.Verdict, error) {
	pending, err := g.Open(ctx, call)
	if err != nil {
		return stopgate.Verdict{}, err
	}
	defer pending.Cancel(ctx)
	pending.Feed(args)
	return pending.Close(stopgate.Ended), nil
}
