// Package inspect has the commands that look at what gates did and do, and change nothing they
// decide: log, report, replay, events, health, version.
package inspect
