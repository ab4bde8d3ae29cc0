// Package sdk has the client libraries of the LLM providers judge the gateway: a
// scripted provider answers, a real stopgate process stands in between, and real
// libraries for Go, Node and Python read what comes out.
//
// Each case says what a program that uses a library must see: the calls that may
// run with their arguments, the texts, the finish, or an error. In every case no
// library may show a call that was denied or never finished, neither in its
// result nor in its events, and what it sends back as history must be accepted by
// a provider that is strict about it.
//
// `make deps` in the folder above installs the libraries.
package sdk
