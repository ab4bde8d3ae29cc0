package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/stopgate/stopgate"
)

// Owner says whose state it is. Sessions of different principals never share
// anything, whatever they are called (THREATS H6, DECISIONS S22).
type Owner struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
}

// Scope says how far a cell reaches (DECISIONS S44).
type Scope uint8

// The scopes.
const (
	OfSession   Scope = iota // one session
	OfPrincipal              // every session of the principal
)

// String spells the scope as the policy file does.
func (s Scope) String() string {
	if s == OfPrincipal {
		return "principal"
	}
	return "session"
}

// Key names one cell of an [Owner]'s state. It is comparable; the zero Key names
// nothing.
type Key struct {
	Scope Scope  `json:"scope,omitempty"`
	Space string `json:"space"`           // what kind of cell: see the constants
	Name  string `json:"name,omitempty"`  // the tool or policy it belongs to
	Value string `json:"value,omitempty"` // the key value, see [ValueOf]
}

// The spaces of cells.
const (
	SpaceSelf     = "self"     // the session itself: denials, rewinds, degraded
	SpaceData     = "data"     // the session's data, one JSON object
	SpaceCall     = "call"     // one proposal by its id
	SpaceCallID   = "id"       // the open proposals of one call id, or of a tool without ids
	SpaceTurn     = "turn"     // one turn: the transition that was taken
	SpaceTool     = "tool"     // successes of a tool, and its calls in flight; keyed by an argument with Value
	SpaceApproval = "approval" // approvals by name
	SpaceBroken   = "broken"   // what invalidated a policy's prerequisites
	SpaceLimit    = "limit"    // running totals of a limit
	SpacePath     = "path"     // what a read-before-write policy knows of one path
	SpaceNote     = "note"     // notes of a policy written in Go
	SpaceSticky   = "sticky"   // a denial that is repeated without asking
)

// Self is the key of the session's own cell, which every update loads.
var Self = Key{Space: SpaceSelf}

// maxValue bounds what a key holds of a value; a longer one is named by its hash.
const maxValue = 200

// ValueOf makes a text fit for a key: as it is, or, if it is long, its SHA-256.
// Different texts have different values.
func ValueOf(text string) string {
	if len(text) <= maxValue && !strings.HasPrefix(text, "sha256:") {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Text is the key as one text, for stores: equal exactly when the keys are.
func (k Key) Text() string {
	b := make([]byte, 0, 8+len(k.Space)+len(k.Name)+len(k.Value))
	if k.Scope == OfPrincipal {
		b = append(b, '*')
	}
	b = append(appendPart(b, k.Space), '/')
	b = append(appendPart(b, k.Name), '/')
	return string(append(b, k.Value...))
}

func appendPart(b []byte, part string) []byte {
	for i := range len(part) {
		switch c := part[i]; c {
		case '/':
			b = append(b, "~1"...)
		case '~':
			b = append(b, "~0"...)
		case '*':
			b = append(b, "~2"...)
		default:
			b = append(b, c)
		}
	}
	return b
}

var errKey = errors.New("session: not the text of a key")

var parts = strings.NewReplacer("~0", "~", "~1", "/", "~2", "*")

// ParseKey reads what [Key.Text] wrote.
func ParseKey(text string) (Key, error) {
	var k Key
	rest, principal := strings.CutPrefix(text, "*")
	if principal {
		k.Scope = OfPrincipal
	}
	space, rest, ok := strings.Cut(rest, "/")
	name, value, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || space == "" {
		return Key{}, errKey
	}
	k.Space, k.Name, k.Value = parts.Replace(space), parts.Replace(name), value
	if k.Text() != text {
		return Key{}, errKey
	}
	return k, nil
}
