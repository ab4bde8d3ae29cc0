// Package author has the commands for people who write policies: init, import, check, fmt, diff,
// trust and schema.
package author
