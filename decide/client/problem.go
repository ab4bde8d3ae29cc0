package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Problem is an error response of a gate (RFC 9457). The call must not run.
type Problem struct {
	Status int    `json:"status"` // HTTP status
	Code   string `json:"code"`   // stable; see openapi.yaml
	Title  string `json:"title"`
	Detail string `json:"detail"` // for people
}

// Problems for errors.Is. They are compared by code.
var (
	ErrUnauthorized    = &Problem{Code: "unauthorized"}         // missing or unknown token
	ErrScope           = &Problem{Code: "scope_missing"}        // the token lacks the scope
	ErrNotFound        = &Problem{Code: "not_found"}            // unknown call, question or route
	ErrPrincipalNeeded = &Problem{Code: "principal_needed"}     // the session belongs to another principal, which the request must name
	ErrConflict        = &Problem{Code: "idempotency_conflict"} // a different call was submitted under this key
	ErrAnswered        = &Problem{Code: "already_answered"}     // another answer arrived first
	ErrUsed            = &Problem{Code: "already_used"}         // the approval was used by its call
	ErrStale           = &Problem{Code: "approval_stale"}       // the question is not the one that was shown
	ErrOwnCall         = &Problem{Code: "own_call"}             // submitted with the same token; another approver is required
	ErrIncomplete      = &Problem{Code: "arguments_incomplete"} // the question can only be denied yet
	ErrExpired         = &Problem{Code: "expired"}              // the time for an answer has passed
	ErrNoGrant         = &Problem{Code: "no_grant"}             // no grant is possible for this question
	ErrUnmatched       = &Problem{Code: "unmatched_result"}     // no allowed call has this id, or it already has a result
	ErrSnapshot        = &Problem{Code: "snapshot_rejected"}    // wrong session or policy, or not sealed by this gate
	ErrUnavailable     = &Problem{Code: "unavailable"}          // a part of the gate is unavailable
)

// Error implements error.
func (p *Problem) Error() string {
	text := "client: " + p.Code
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// Is reports whether target is a problem with the same code.
func (p *Problem) Is(target error) bool {
	t, ok := target.(*Problem)
	return ok && t.Code == p.Code
}

// problemOf decodes an error response. A response that is not a problem of a gate, such as a
// proxy's page, becomes a problem without a code.
func problemOf(in *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(in.Body, 64<<10))
	p := new(Problem)
	if strings.HasPrefix(in.Header.Get("Content-Type"), "application/problem+json") && json.Unmarshal(text, p) == nil && p.Code != "" {
		p.Status = in.StatusCode
		return p
	}
	return fmt.Errorf("%w: HTTP status %s", errNotAGate, in.Status)
}
