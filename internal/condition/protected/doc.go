// Package protected has the built-in list of paths and commands that no policy can allow: the
// gate's own state (S4), and settings by which programs run other programs (K2).
package protected
