// Package protected has the built-in list of paths and commands that no policy opens: the gate's own
// state (S4), and settings that change what programs run (K2).
package protected
