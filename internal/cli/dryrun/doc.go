// Package dryrun decides calls that do not run, as a surface would decide them, and explains
// the verdict: for decide, explain, test, replay and log show. No person and no judge is asked.
package dryrun
