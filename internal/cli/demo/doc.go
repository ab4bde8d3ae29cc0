// Package demo has the command demo: it plays a recorded session through a running gateway and
// shows each call with its verdict.
package demo
