package session

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// weak is the prefix of the ids of guessed sessions. Clients cannot send an id with a slash.
const weak = "weak/"

// WeakID returns the id of a session that a surface guesses from the content of a request.
// Two conversations with the same content may share it.
func WeakID(fingerprint string) stopgate.SessionID { return stopgate.SessionID(weak + fingerprint) }

// Weak reports whether an id was guessed. Permits of such a session count in one
// conversation at most, see gate.Turn.Remember; grants do not apply in it (S35).
func Weak(id stopgate.SessionID) bool { return strings.HasPrefix(string(id), weak) }
