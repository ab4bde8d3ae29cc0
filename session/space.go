package session

import "fmt"

// Space says what kind of cell a key names. The zero Space is none.
type Space uint8

// The spaces of cells.
const (
	SpaceSelf     Space = iota + 1 // the session itself: denials, rewinds, degraded
	SpaceData                      // the session's data, one JSON object
	SpaceCall                      // one proposal by its id
	SpaceCallID                    // the open proposals of one call id, or of a tool without ids
	SpaceTurn                      // one turn: the transition that was taken
	SpaceTool                      // successes of a tool, and its calls in flight; keyed by an argument with Value
	SpaceApproval                  // approvals by name
	SpaceBroken                    // what invalidated a policy's prerequisites
	SpaceLimit                     // running totals of a limit
	SpacePath                      // what a read-before-write policy knows of one path
	SpaceNote                      // notes of a policy written in Go
	SpaceSticky                    // a denial that is repeated without asking
)

// Stores keep these words.
var spaces = [...]string{
	"", "self", "data", "call", "id", "turn", "tool", "approval", "broken", "limit", "path", "note", "sticky",
}

// String spells the space as stores do, "" for one that is none.
func (s Space) String() string {
	if int(s) < len(spaces) {
		return spaces[s]
	}
	return ""
}

// MarshalText spells the space for JSON.
func (s Space) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Space) UnmarshalText(text []byte) error {
	for i, word := range spaces {
		if string(text) == word {
			*s = Space(i)
			return nil
		}
	}
	return fmt.Errorf("session: no space of cells is called %q", text)
}
