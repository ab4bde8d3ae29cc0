// Package tables reads the operational tables of policy files, [api], [approvals], [telemetry],
// [mcp] and [agent], and checks all of them for stopgate check. A table with a mistake is not
// used; every mistake is a diagnostic with its position.
package tables
