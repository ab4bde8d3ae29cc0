// Package peer checks which process is at the other end of a Unix socket. A program that asks a gate
// of this machine must not be deceived by another program that listens at the gate's path.
//
//	self := peer.Own()
//	c, err := peer.Dial(path, self, time.Now().Add(time.Second)) // checked before anything is sent
//	...
//	n, err := c.Read(buf) // fails unless the checked process wrote every byte
//
// A process is trusted if it is alive, belongs to this user, has the root and the namespaces of this
// process and runs the same program file. Only Linux reports all of this; other systems trust no
// process.
//
// Programs that live for one event import the package: it imports almost nothing.
package peer

import "errors"

// Errors of [Dial] and [Conn].
var (
	// ErrNone reports that no process listens at the path.
	ErrNone = errors.New("no process listens at the socket")
	// ErrEnding reports a process that is ending: it runs no program any more, but its socket is still
	// open.
	ErrEnding = errors.New("the process at the socket is ending")
	// ErrUntrusted reports a process that is not trusted.
	ErrUntrusted = errors.New("the process at the socket is not trusted: it must run the same program file, as the same user, with the same root and namespaces")
	// ErrWriter reports bytes that another process wrote.
	ErrWriter = errors.New("the bytes were not written by the process that was checked")
)
