// Package mcp holds the referees of the MCP gateway: the protocol's own conformance
// suite, real servers, the inspector's command line and the official SDK's client, all
// of them talking through the stopgate that stands two directories up.
//
//	go test ./...
//
// The referees are installed by name when the tests begin (package.json, go.mod), into
// directories that are never committed. Nothing of it is linked into stopgate.
package mcp
