package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/stopgate/stopgate"
)

// Owner says whose state it is. Sessions of different principals never share
// anything, whatever they are called (H6, S22).
type Owner struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
}

// Scope says how far a cell reaches (S44).
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
	Space Space  `json:"space"`           // what kind of cell
	Name  string `json:"name,omitempty"`  // the tool or policy it belongs to
	Value string `json:"value,omitempty"` // the key value, see [ValueOf]
}

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

// is compares keys; most differ in a space or a length.
func (k *Key) is(o *Key) bool {
	return k.Space == o.Space && len(k.Value) == len(o.Value) && len(k.Name) == len(o.Name) &&
		k.Scope == o.Scope && k.Value == o.Value && k.Name == o.Name
}

// Text is the key as one text, for stores: equal exactly when the keys are.
func (k Key) Text() string {
	b := make([]byte, 0, 16+len(k.Name)+len(k.Value))
	if k.Scope == OfPrincipal {
		b = append(b, '*')
	}
	b = append(append(b, k.Space.String()...), '/')
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
	if !ok || !ok2 || space == "" || k.Space.UnmarshalText([]byte(space)) != nil {
		return Key{}, errKey
	}
	k.Name, k.Value = parts.Replace(name), value
	if k.Text() != text {
		return Key{}, errKey
	}
	return k, nil
}

// DataKey is the cell of the session's data.
var DataKey = Key{Space: SpaceData}

// CallKey is the cell of a proposal.
func CallKey(id stopgate.ProposalID) Key { return Key{Space: SpaceCall, Value: string(id)} }

// ApprovalKey is the cell of the approvals of one name.
func ApprovalKey(name string) Key { return Key{Space: SpaceApproval, Name: name} }

// OpenKey is the cell that names the open proposals of a call id. Calls without an
// id are found by their tool (S23).
func OpenKey(id stopgate.CallID, tool stopgate.ToolName) Key {
	return Key{Space: SpaceCallID, Name: string(tool), Value: ValueOf(string(id))}
}
