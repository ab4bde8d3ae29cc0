// Package service has what every command that runs a gate shares: it opens the store and the
// records, connects telemetry, judges and MCP servers, reloads policy files that change, and
// follows lockdowns until the command ends.
package service
