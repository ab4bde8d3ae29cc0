package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/stopgate/stopgate"
)

// Owner identifies a state. Sessions of different principals never share state, even with
// the same name (H6, S22).
type Owner struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
}

// Scope is the extent of a cell (S44).
type Scope uint8

// The scopes.
const (
	OfSession   Scope = iota // one session
	OfPrincipal              // every session of the principal
)

// String returns the word of policy files for the scope.
func (s Scope) String() string {
	if s == OfPrincipal {
		return "principal"
	}
	return "session"
}

// Key names one cell of an [Owner]'s state. It is comparable. The zero Key names no cell.
type Key struct {
	Scope Scope  `json:"scope,omitempty"`
	Space Space  `json:"space"`           // kind of cell
	Name  string `json:"name,omitempty"`  // the tool or policy it belongs to
	Value string `json:"value,omitempty"` // the key value, see [ValueOf]
}

// Self is the key of the cell of the session itself, which every update loads.
var Self = Key{Space: spaceSelf}

// maxValue bounds the bytes of a value in a key; a longer value is replaced by its hash.
const maxValue = 200

// ValueOf returns a text as it is stored in a key: a long text is replaced by its SHA-256.
// Different texts have different values.
func ValueOf(text string) string {
	if len(text) <= maxValue && !strings.HasPrefix(text, "sha256:") {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// is compares keys. Most keys differ in the space or a length, which are compared first.
func (k *Key) is(o *Key) bool {
	return k.Space == o.Space && len(k.Value) == len(o.Value) && len(k.Name) == len(o.Name) &&
		k.Scope == o.Scope && k.Value == o.Value && k.Name == o.Name
}

// Text returns the key as one text, for stores. Different keys have different texts.
func (k Key) Text() string {
	b := make([]byte, 0, 16+len(k.Name)+len(k.Value))
	if k.Scope == OfPrincipal {
		b = append(b, '*')
	}
	b = append(append(b, k.Space.String()...), '/')
	b = append(appendEscaped(b, k.Name), '/')
	return string(append(b, k.Value...))
}

func appendEscaped(b []byte, part string) []byte {
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

// DataKey is the key of the session's data.
var DataKey = Key{Space: spaceData}

// ProgramKey is the key of the program that began the session; its cell is zero without one.
var ProgramKey = Key{Space: spaceProgram}

// CallKey returns the key of the cell of a proposal.
func CallKey(id stopgate.ProposalID) Key { return Key{Space: SpaceCall, Value: string(id)} }

// ApprovalKey returns the key of the approvals of one name.
func ApprovalKey(name string) Key { return Key{Space: spaceApproval, Name: name} }

// OpenKey returns the key of the cell that lists the open proposals of a call id. Calls
// without an id are found by their tool (S23).
func OpenKey(id stopgate.CallID, tool stopgate.ToolName) Key {
	return Key{Space: SpaceCallID, Name: string(tool), Value: ValueOf(string(id))}
}
