// Package mcp tests the MCP gateway with the protocol's own conformance suite, real
// servers, the inspector's command line and the official SDK's client. All of them
// talk through the stopgate of this repository.
//
//	go test ./...
//
// The tests install these programs by name (package.json, go.mod) into directories that
// are never committed. None of them is linked into stopgate.
package mcp
