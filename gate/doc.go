// Package gate decides tool calls: it takes a call's arguments as they arrive,
// combines the verdicts of all layers, asks an approver if necessary, writes the record
// and only then releases the call.
//
//	program, diags := policy.Compile(sources, policy.Options{})
//	...
//	g, err := gate.New(program, gate.WithRecorder(log), gate.WithApprover(terminal))
//	...
//	p, err := g.Open(ctx, stopgate.Call{Tool: "fs_read_file", ID: "call_1"})
//	if err != nil {
//		return err
//	}
//	defer p.Cancel(ctx)
//	for chunk := range stream {
//		if p.Feed(chunk).Terminal() {
//			break // denied or skipped, whatever follows
//		}
//	}
//	p.Close(stopgate.Ended)
//	out, err := p.Resolve(ctx)
//	if out.Allowed() {
//		run(out.Args)
//	}
//
// [Gate.Decide] is all of that for complete arguments.
//
// The layers in the order in which they decide:
//
//	integrity, rules     the port [Policy], while the bytes arrive: Open, Feed, Close
//	gates                [ToolPolicy] and [HandoffPolicy], Go functions
//	session policies     package session over a [Store]: at Open, at Close, and last with the release
//	judge                [Judge], at the same time as the approval
//	approval             [Approver], for ask and edit
//	final check          the policy in force now
//	record               [Recorder]
//
// The file pipeline.go has them in this order.
//
// The strictest layer wins, and nothing runs without an explicit allow (X1). Published verdicts
// only get stricter (I3). No failure of any part makes a verdict weaker (I14). Every proposal
// gets exactly one decision row, however it ends (I23), and an allowed call is released only
// after its row is durable (I22). The arguments that run are the gate's own bytes, those that
// were judged (I8).
package gate
