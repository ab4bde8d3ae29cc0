// Package inspect has the commands that look at the work of gates and change no decision: log,
// report, replay, events, health, version.
package inspect
