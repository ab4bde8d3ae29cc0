// Package round continues MCP calls of several rounds. A server, or the gateway for an approval,
// requests input in a result, and the client repeats the call with it. Between the rounds the client
// stores the gateway's state, which is encrypted.
//
//	sealer, err := round.NewSealer(secret)
//	text := sealer.Seal(round.NewState(call, m, policyHash)) // for the member requestState
//	...
//	r, problem := sealer.Continue(m, call) // the repeated request
package round

import (
	"encoding/hex"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Round is the earlier round that a request continues.
type Round struct {
	State     State
	OtherArgs bool // the arguments differ: the call is a new one
}

// argsHash returns the hash that binds a state to its arguments, "" without arguments.
func argsHash(m *jsonrpc.Message) string {
	var v jsonstream.Value
	if m.Params.IsValid() {
		v, _ = m.Params.Get("arguments")
	}
	if !v.IsValid() {
		return ""
	}
	sum := jsonstream.HashCanonical(v)
	return hex.EncodeToString(sum[:])
}

// Continue decrypts the state of a request. It returns nil if the request contains none, and the
// problem if the state is invalid or of another call.
func (s *Sealer) Continue(m *jsonrpc.Message, of Call) (r *Round, problem string) {
	v, ok := m.Params.Get("requestState")
	if !ok {
		return nil, ""
	}
	if v.Kind() != jsonstream.String {
		return nil, "requestState must be a string"
	}
	st, err := s.Open(v.Text(), time.Now())
	if err != nil || st.Call != of {
		return nil, "requestState is not valid for this request"
	}
	return &Round{State: st, OtherArgs: st.Args != argsHash(m)}, ""
}

// NewState returns the state for the next round of a call.
func NewState(of Call, m *jsonrpc.Message, policyHash string) State {
	now := time.Now()
	return State{Call: of, Args: argsHash(m), Policy: policyHash, Issued: now, Expires: now.Add(TTL)}
}

// RemoveOwn removes the gateway's own members from a request. The Round may be nil.
func (r *Round) RemoveOwn(e *jsonrpc.Edits, params jsonstream.Value) {
	if !params.IsValid() {
		return
	}
	drop := map[string]bool{}
	if r != nil {
		if r.OtherArgs || r.State.ServerState == nil {
			drop["requestState"] = true
		} else if v, ok := params.Get("requestState"); ok {
			e.Replace(v, jsonstream.AppendQuote(nil, *r.State.ServerState))
		}
	}
	if inputs, ok := jsonrpc.MemberOf(params, "inputResponses"); ok {
		if _, ours := inputs.Get(ApprovalKey); ours && inputs.Len() == 1 {
			drop["inputResponses"] = true
		} else if ours {
			e.Remove(inputs, func(name string) bool { return name == ApprovalKey })
		}
	}
	if len(drop) > 0 {
		e.Remove(params, func(name string) bool { return drop[name] })
	}
}
