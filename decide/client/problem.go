package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Problem is a gate's refusal to answer (RFC 9457). Nothing was allowed.
type Problem struct {
	Status int    `json:"status"` // of HTTP
	Code   string `json:"code"`   // stable; see openapi.yaml
	Title  string `json:"title"`
	Detail string `json:"detail"` // for people
}

// Problems that programs look at, for errors.Is. They are compared by their code.
var (
	ErrUnauthorized = &Problem{Code: "unauthorized"}         // no token, or one that the gate does not know
	ErrScope        = &Problem{Code: "scope_missing"}        // the token may not do this
	ErrNotFound     = &Problem{Code: "not_found"}            // no such call, question or route
	ErrWhose        = &Problem{Code: "principal_needed"}     // the session is another principal's: say whose
	ErrConflict     = &Problem{Code: "idempotency_conflict"} // another call was proposed under this key
	ErrAnswered     = &Problem{Code: "already_answered"}     // of answers that race one counts
	ErrUsed         = &Problem{Code: "already_used"}         // the approval let its call out
	ErrStale        = &Problem{Code: "approval_stale"}       // the question is not the one that was shown
	ErrOwn          = &Problem{Code: "own_call"}             // proposed with the same token: somebody else has to say yes
	ErrIncomplete   = &Problem{Code: "arguments_incomplete"} // only a no is possible yet
	ErrExpired      = &Problem{Code: "expired"}              // the time for an answer is over
	ErrNoGrant      = &Problem{Code: "no_grant"}             // no grant can stand for this
	ErrUnmatched    = &Problem{Code: "unmatched_result"}     // a result of no allowed call, or the second one
	ErrSnapshot     = &Problem{Code: "snapshot_rejected"}    // of another session or policy, or not sealed by this gate
	ErrUnavailable  = &Problem{Code: "unavailable"}          // a part of the gate cannot be used now
)

// Error says what the gate said.
func (p *Problem) Error() string {
	text := "client: " + p.Code
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// Is reports whether a target is a problem of the same code.
func (p *Problem) Is(target error) bool {
	t, ok := target.(*Problem)
	return ok && t.Code == p.Code
}

// problemOf reads an answer that is none. What is not a gate's own problem - a proxy's
// page, say - is one without a code.
func problemOf(in *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(in.Body, 64<<10))
	p := new(Problem)
	if strings.HasPrefix(in.Header.Get("Content-Type"), "application/problem+json") && json.Unmarshal(text, p) == nil && p.Code != "" {
		p.Status = in.StatusCode
		return p
	}
	return fmt.Errorf("%w: HTTP status %s", errAnswer, in.Status)
}
