// Command gatewaybench measures the gateway as its users run it, beside proxies that look at nothing:
//
//	make bench-gateway
//
// Each part of a path from a client to a provider is a process of its own: this program, which is the
// client; a provider, which plays streams made here in the order and with the padding of real ones; and
// between them Go's ReverseProxy, nginx, Portkey's gateway, or `stopgate up` with the policy of
// `stopgate init` and its store in SQLite, in which each call is durable before it is released.
//
// In each round every path carries the same traffic, one path after the other, in an order that turns
// from round to round. A ratio is that of a path and ReverseProxy in one round; what is printed are the
// smallest, the median and the largest ratio of all rounds. CPU is that of the path's own process.
package main
