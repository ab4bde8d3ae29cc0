// Package agent has the command agent: a coding agent in the terminal whose tool calls pass the
// gate. It connects package internal/agent to the policy, the store, a model and a terminal.
package agent
