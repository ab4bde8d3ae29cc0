// Package relay passes requests of the decision API from the standard input of a process to a gate,
// and its responses to standard output, for client libraries of languages that cannot check which
// process is at the other end of a Unix socket.
//
//	err := relay.Serve(ctx, os.Stdin, os.Stdout, relay.Options{Dial: dial, Hello: hello})
//
// Both directions carry frames: JSON objects, one per line, of at most 16 MiB.
//
//	> {"id":1,"method":"POST","path":"/v1/calls","headers":{"Prefer":"wait=5"},"body":"{...}"}
//	> {"id":2,"method":"POST","path":"/v1/calls/stream","body":"...","open":true}
//	> {"id":2,"body":"more"}   {"id":2,"body":"","end":true}   {"id":2,"cancel":true}
//	< {"hello":{...}}
//	< {"id":1,"status":200,"headers":{...},"body":"..."}
//	< {"id":2,"status":200,"headers":{...},"open":true}   {"id":2,"body":"..."}   {"id":2,"end":true}
//	< {"id":1,"error":{"code":"gate_lost","detail":"..."}}
//
// Ids of requests grow. Every request ends with exactly one frame: a whole response, the end of one
// that arrives in parts, or an error. The relay sends no request twice, and answers none itself with
// anything but an error. A frame that it does not understand ends it, and with it all requests.
package relay
