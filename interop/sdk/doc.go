// Package sdk tests the gateway with the client libraries of the LLM providers: a
// scripted provider answers through a real stopgate process, and real libraries for
// Go, Node and Python read the response.
//
// Each case lists the values that a program must get from a library: the calls that
// may run with their arguments, the texts, the finish, or an error. In every case no
// library may show a call that was denied or never finished, neither in its
// result nor in its events, and a strict provider must accept the history that it
// sends back.
//
// `make deps` in the folder above installs the libraries.
package sdk
