// Package commandline has the conditions on shell command lines: on the words of every command of a
// line ([Test]), and on the paths that a line reads and writes ([PathTest]). Package shell parses
// the line.
package commandline
