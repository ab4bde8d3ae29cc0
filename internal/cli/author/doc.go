// Package author has the commands for people who write policies: init, import, check, fmt, diff,
// test, trust, schema, decide, explain, and mcp pin, which accepts changed definitions of tools.
package author
