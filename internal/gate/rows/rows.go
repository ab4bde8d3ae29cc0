// Package rows makes the parts of audit rows that every row has in the same form: the fields
// that identify a call, texts that are printable and short, hashes in hex, and proposal ids.
//
//	r := rows.Identity(&call)
//	r.ID, err = rows.NewProposalID(time.Now(), rows.NewEntropy())
//	rows.Clean(&r)
package rows

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
)

// Identity returns the fields of a row that identify the call.
func Identity(c *stopgate.Call) stopgate.Record {
	return stopgate.Record{
		Session: c.Session, Principal: c.Principal, Groups: c.Groups, Surface: c.Surface, Dialect: c.Dialect, Agent: c.Agent, Turn: c.Turn,
		Tool: c.Tool, CallID: c.ID,
	}
}

// Clean makes every text of a row printable and short. Names and ids are chosen by models,
// clients and servers (H17).
func Clean(r *stopgate.Record) {
	r.Session = stopgate.SessionID(Word(string(r.Session)))
	r.Principal = stopgate.Principal(Word(string(r.Principal)))
	r.Surface = stopgate.Surface(Word(string(r.Surface)))
	r.Dialect = Word(r.Dialect)
	r.Agent = stopgate.AgentName(Word(string(r.Agent)))
	r.Turn = stopgate.TurnID(Word(string(r.Turn)))
	r.Tool = stopgate.ToolName(Word(string(r.Tool)))
	r.CallID = stopgate.CallID(Word(string(r.CallID)))
	r.Handoff = stopgate.AgentName(Word(string(r.Handoff)))
	r.ID = stopgate.ProposalID(Word(string(r.ID)))
	r.Parent = stopgate.ProposalID(Word(string(r.Parent)))
	r.Cause = Word(r.Cause)
	r.Pointer = Word(r.Pointer)
	if r.Judge != nil {
		j := *r.Judge
		j.Model, j.Prompt, j.Input, j.Fault = Word(j.Model), Word(j.Prompt), Word(j.Input), Word(j.Fault)
		j.Explanation = Word(j.Explanation)
		r.Judge = &j
	}
	if r.External != nil {
		answers := make([]stopgate.ExternalAnswer, min(len(r.External), MaxList))
		copy(answers, r.External)
		for i := range answers {
			a := &answers[i]
			a.Policy, a.Version, a.Hook, a.Fault = Word(a.Policy), Word(a.Version), Word(a.Hook), Word(a.Fault)
		}
		r.External = answers
	}
	if r.Approval != nil {
		a := *r.Approval
		a.ID, a.By = Word(a.ID), Word(a.By)
		r.Approval = &a
	}
	if r.Floors != nil {
		floors := make([]stopgate.Floor, min(len(r.Floors), MaxList))
		copy(floors, r.Floors)
		for i := range floors {
			floors[i].Pointer = Word(floors[i].Pointer)
		}
		r.Floors = floors
	}
	if r.Origins != nil {
		origins := make([]stopgate.Origin, min(len(r.Origins), MaxList))
		copy(origins, r.Origins)
		for i := range origins {
			o := &origins[i]
			o.Pointer, o.Source, o.Field = Word(o.Pointer), Word(o.Source), Word(o.Field)
			o.Tool, o.Call = stopgate.ToolName(Word(string(o.Tool))), stopgate.CallID(Word(string(o.Call)))
		}
		r.Origins = origins
	}
	if r.Objections != nil {
		objections := make([]string, min(len(r.Objections), MaxList))
		copy(objections, r.Objections)
		for i := range objections {
			objections[i] = Word(objections[i])
		}
		r.Objections = objections
	}
	if len(r.Candidates) > MaxList {
		r.Candidates = r.Candidates[:MaxList]
	}
}

// Bounds of the lists and texts of a row.
const (
	maxWord = 256 // bytes of a name, an id, a pointer
	MaxList = 64  // floors, objections, candidates
)

// Word returns a text in the form that rows may hold. A text of printable characters up to
// maxWord bytes stays as it is; any other is quoted as Go quotes strings, and a
// long one is cut and ends with its length and hash.
func Word(s string) string {
	if len(s) <= maxWord && Printable(s) {
		return s
	}
	rest := ""
	if len(s) > maxWord {
		sum := sha256.Sum256([]byte(s))
		rest = "... (" + strconv.Itoa(len(s)) + " bytes, sha256 " + hex.EncodeToString(sum[:8]) + ")"
		cut := maxWord
		for cut > maxWord-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
	if !Printable(s) {
		s = strconv.Quote(s)
	}
	return s + rest
}

// Printable reports whether a text needs no quotes in a row.
func Printable(s string) bool {
	if plain(s) {
		return true
	}
	for i, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError || r == '"' && i == 0 {
			return false
		}
	}
	return true
}

// plain reports whether a text has only printable ASCII characters, except for space and
// quotation mark. It is a fast path of Printable.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' {
			return false
		}
	}
	return true
}
