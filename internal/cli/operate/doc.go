// Package operate has the commands that run gates and act on them: up, mcp, mcp pin and hook;
// approvals, grants, lockdown and sessions.
package operate
