// Package decide implements the decision API. Programs use it over HTTP to submit tool calls for a
// decision, to have people approve them, and to report results.
//
//	api, err := decide.New(decide.Options{Gate: g, Program: program, Queue: queue, Tokens: tokens})
//	go api.ServeLocal(unixListener)  // programs on this machine: decide and observe
//	go api.Serve(tcpListener)        // all others: with a token
//
// openapi.yaml describes every route, and tests compare it with the server. A call is submitted as
// a whole (POST /v1/calls) or while its arguments are still being generated (POST /v1/calls/stream,
// one line of JSON for every change of the verdict). POST /v1/check evaluates a call without
// consequences.
//
// A decision that allows a call is sent only after its record is durable. It allows exactly the
// bytes in its member args. Every error is an RFC 9457 problem, after which the call must not run:
// an unknown or repeated member, a different call under the same idempotency key, a token without
// the scope.
// Requests with an Origin header are rejected (S46); browsers use the pages of package
// internal/approve/page at /approvals.
package decide
