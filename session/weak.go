package session

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// weak begins the ids of sessions that a surface had to guess. The slash keeps them
// apart from every id that a client can give.
const weak = "weak/"

// WeakID is the id of a session that a surface guesses from what a request says: two
// conversations that say the same may share it.
func WeakID(fingerprint string) stopgate.SessionID { return stopgate.SessionID(weak + fingerprint) }

// Weak reports whether an id was guessed. What permits in such a session holds for
// one conversation at most, see gate.Turn.Remember; grants do not hold in it at all
// (S35).
func Weak(id stopgate.SessionID) bool { return strings.HasPrefix(string(id), weak) }
