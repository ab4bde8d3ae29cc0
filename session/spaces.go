package session

import "fmt"

// Space is the kind of cell that a key names. The zero Space is invalid.
type Space uint8

// The spaces of cells.
const (
	spaceSelf     Space = iota + 1 // the session itself: denials, rewinds, degraded
	spaceData                      // the session's data, one JSON object
	SpaceCall                      // one proposal by its id
	SpaceCallID                    // the open proposals of one call id, or of a tool without ids
	SpaceTurn                      // one turn: its handoff
	SpaceTool                      // successes of a tool, and its calls in flight; keyed by an argument with Value
	spaceApproval                  // approvals by name
	SpaceBroken                    // the newest call that invalidated a policy's prerequisites
	SpaceLimit                     // running totals of a limit
	SpacePath                      // reads and writes of one path, for read-before-write policies
	SpaceNote                      // notes of a policy written in Go
	SpaceSticky                    // a denial that is repeated without asking
	spaceProgram                   // the program that began the session
)

// Stores write these words: they must not change.
var spaces = [...]string{
	"", "self", "data", "call", "id", "turn", "tool", "approval", "broken", "limit", "path", "note", "sticky", "program",
}

// String returns the word of the space, "" for an invalid one.
func (s Space) String() string {
	if int(s) < len(spaces) {
		return spaces[s]
	}
	return ""
}

// MarshalText returns the word of the space.
func (s Space) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text that MarshalText writes.
func (s *Space) UnmarshalText(text []byte) error {
	for i, word := range spaces {
		if string(text) == word {
			*s = Space(i)
			return nil
		}
	}
	return fmt.Errorf("session: parse key: unknown space %q", text)
}
