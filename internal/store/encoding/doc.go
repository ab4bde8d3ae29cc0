// Package encoding writes the cells and facts of sessions as JSON for stores, and reads them.
//
//	text := encoding.MarshalCell(cell)
//	cell, err := encoding.UnmarshalCell(text)
//
// The form is that of encoding/json on the types of package session, except that calls in
// cells are lists instead of objects. A text with other members, as another version may have
// written it, is read by encoding/json; a text that it refuses is an error, never an empty
// cell.
package encoding
