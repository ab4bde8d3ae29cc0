// Package mem keeps state in memory, for programs that need it only as long as they
// run, and for tests.
package mem
