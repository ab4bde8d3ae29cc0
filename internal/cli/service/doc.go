// Package service has the parts that all commands that run a gate share: it opens the store and the
// records, connects telemetry, judges and MCP servers, reloads policy files that change, and
// follows lockdowns until the command ends.
package service
