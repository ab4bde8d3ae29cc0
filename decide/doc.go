// Package decide is the decision API: any program can ask over HTTP whether a tool
// call may run, have people approve it, and report what came of it.
//
//	api, err := decide.New(decide.Options{Gate: g, Program: program, Queue: queue, Tokens: tokens})
//	go api.ServeLocal(unixListener)  // the machine's own programs: decide and observe
//	go api.Serve(tcpListener)        // everybody else: with a token
//
// openapi.yaml describes every route; the tests hold the two against each other. A
// call is decided whole (POST /v1/calls) or while its arguments are still being
// written (POST /v1/calls/stream, one line of JSON for every change of the verdict).
// POST /v1/check is the same question without consequences.
//
// What it promises: an answer that lets a call run is given after its record is
// durable, and holds for the bytes in its member args and no others. Everything that
// goes wrong is an RFC 9457 problem and no answer that allows: an unknown member, a
// repeated one, another call under the same idempotency key, a token without the
// scope. Requests with an Origin are refused (DECISIONS S46); browsers have the pages of
// package approve/page, at /approvals.
package decide
