// Package history reads the conversation in a request of the Responses API, and restores the calls
// that the gate replaced in earlier responses.
//
//	history.Read(request, instructions, input, &hashes)
//	request = history.Restore(request, log)
package history
