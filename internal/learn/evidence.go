package learn

import (
	"strings"
	"time"

	"github.com/stopgate/stopgate"
)

// Row is a row of the records with the arguments of its call.
type Row struct {
	Record stopgate.Record
	// Call is the call as the policy binds it. The zero Call is made from the record.
	Call stopgate.Call
	// Args are the canonical arguments, nil if they are not kept, not whole or not those of the row.
	Args []byte
	// Redacted reports that values of the arguments are not kept.
	Redacted bool
}

// Options are the choices of the person who learns.
type Options struct {
	// By names the people whose approvals count, nil for all.
	By []string
	// Referred counts a call that was left to the prompt of a host, and has a result, as approved. The
	// record cannot show that a person answered that prompt, so that somebody has to vouch for it.
	Referred bool
}

// Program is the name in records of a program that approves its own calls.
const Program = "program"

// evidence is one call of the rows that says something about rules.
type evidence struct {
	row     *Row
	refused bool
	// weight is 1 for the first approval of a person in a minute, and for the first use of a grant in a session;
	// it is 0 for others.
	weight int
	// grant is the id of the grant of a person that approved the call, "" for an answer to a question.
	grant string
	args  []byte // nil if they are not known
	// parts are the arguments of a refused call, and those with one command of its line, that are asked about.
	parts [][]byte
}

// Counts is how many calls were found and why others were left out.
type Counts struct {
	Calls      int `json:"calls"`      // decided calls
	Approved   int `json:"approved"`   // by people
	Refused    int `json:"refused"`    // declined or edited by people, or denied by the policy
	Granted    int `json:"granted"`    // of the approved ones, by a grant that a person gave
	Unanswered int `json:"unanswered"` // questions that nobody answered
	ByProgram  int `json:"by_program"` // approved by a program, a judge or an external policy
	Others     int `json:"others"`     // approved by people that were not selected
	Referred   int `json:"referred"`   // left to the prompt of a host
	Ran        int `json:"ran"`        // of these, with a result
	NotKept    int `json:"not_kept"`   // approved calls without arguments, or with redacted ones
}

// read sorts the rows into evidence, in their order.
func read(rows []Row, o Options) (list []evidence, n Counts) {
	asked, results := map[stopgate.ProposalID]bool{}, map[stopgate.ProposalID]bool{}
	heard := map[stopgate.SessionID]bool{} // sessions whose host reports results
	for i := range rows {
		switch r := &rows[i].Record; r.Event {
		case stopgate.AuditAsked:
			asked[r.ID] = true
		case stopgate.AuditResult:
			results[r.ID] = true
		}
	}
	for i := range rows {
		if r := &rows[i].Record; r.Kind == stopgate.RecordDecision && results[r.ID] {
			heard[r.Session] = true
		}
	}
	minutes := map[string]bool{}
	for i := range rows {
		r := &rows[i].Record
		if r.Kind != stopgate.RecordDecision {
			continue
		}
		n.Calls++
		e := evidence{row: &rows[i], args: rows[i].Args}
		if rows[i].Redacted {
			e.args = nil
		}
		switch {
		case refused(r), referred(r) && !results[r.ID] && heard[r.Session]:
			// A host that reports results and has none of this call did not run it.
			n.Refused++
			e.refused = true
			list = append(list, e)
			continue
		case r.Status != stopgate.StatusAllowed || r.Approval == nil:
			if undecided[r.Code] {
				n.Unanswered++
			}
			continue
		case referred(r):
			n.Referred++
			if results[r.ID] {
				n.Ran++
			}
			if !o.Referred || !results[r.ID] {
				continue
			}
		case !asked[r.ID], !person(r.Approval), r.Judge != nil, len(r.External) > 0:
			n.ByProgram++
			continue
		case r.Approval.Edited:
			continue // the call that a person wrote in place of the refused one is not of the model
		case !selected(o.By, r.Approval.By):
			n.Others++
			continue
		}
		n.Approved++
		e.grant = grantOf(r.Approval)
		if e.grant != "" {
			n.Granted++
		}
		if e.args == nil {
			n.NotKept++
			continue
		}
		if e.grant != "" {
			// A grant is one decision, however often it is used.
			if at := e.grant + " " + e.session(); !minutes[at] {
				minutes[at], e.weight = true, 1
			}
			list = append(list, e)
			continue
		}
		// Somebody who says yes several times a minute may not read any more.
		if at := r.Approval.By + " " + r.Time.UTC().Truncate(time.Minute).String(); !minutes[at] {
			minutes[at], e.weight = true, 1
		}
		list = append(list, e)
	}
	return list, n
}

func referred(r *stopgate.Record) bool { return r.Approval != nil && r.Approval.Referred }

// undecided are the codes of denials that are no verdict on the call: nobody answered, or the gate could
// not run it.
var undecided = map[stopgate.Code]bool{
	stopgate.CodeNoApprover: true, stopgate.CodeApprovalPending: true, stopgate.CodeApprovalTimeout: true, stopgate.CodeApprovalStale: true,
	stopgate.CodeClientGone: true, stopgate.CodeCancelled: true, stopgate.CodeLockdown: true, stopgate.CodeDenialLimit: true,
	stopgate.CodeOverloaded: true,
}

// refused reports whether a person declined or edited a call, or the policy denied it. What is not known to
// be something else is a refusal.
func refused(r *stopgate.Record) bool {
	switch r.Status {
	case stopgate.StatusEdited:
		return true
	case stopgate.StatusDenied, stopgate.StatusSkipped:
		return !undecided[r.Code] && r.Layer != stopgate.LayerFailure && (r.Layer != stopgate.LayerIntegrity || r.ArgsHash != "")
	case stopgate.StatusObserved:
		return r.Mode != nil && (*r.Mode == stopgate.Deny || *r.Mode == stopgate.Skip)
	}
	return false
}

// person reports whether a person gave an approval, or the grant that did.
func person(a *stopgate.Approval) bool { return a.By != "" && a.By != Program }

// grantOf returns the id of the grant that approved a call, "" for none.
func grantOf(a *stopgate.Approval) string {
	id, ok := strings.CutPrefix(a.ID, "grant:")
	if !ok {
		return ""
	}
	id, _, _ = strings.Cut(id, ":")
	return "grant " + id
}

func selected(by []string, name string) bool {
	for _, each := range by {
		if each == name {
			return true
		}
	}
	return len(by) == 0
}

// session is the name of a session for counting: two rows without one are of one.
func (e *evidence) session() string { return string(e.row.Record.Session) }

// day is the day of a row.
func (e *evidence) day() string { return e.row.Record.Time.UTC().Format(time.DateOnly) }

// call returns the call of a row.
func (r *Row) call() stopgate.Call {
	if r.Call.Tool != "" {
		return r.Call
	}
	of := &r.Record
	return stopgate.Call{Tool: of.Tool, Agent: of.Agent, Surface: of.Surface, Dialect: of.Dialect, Principal: of.Principal, Groups: of.Groups}
}
