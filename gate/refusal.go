package gate

import (
	"encoding/hex"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/jsonstream"
)

// Refusal returns the row of a call that a surface denies because it has no gate: the store
// or the policy cannot be opened, or the deadline has passed. The row has a new proposal id.
func Refusal(call stopgate.Call, code stopgate.Code, now time.Time) (stopgate.Record, error) {
	id, err := rows.NewProposalID(now, rows.NewEntropy())
	if err != nil {
		return stopgate.Record{}, err
	}
	mode, enforced := stopgate.Deny, true
	r := rows.Identity(&call)
	r.ID, r.Version, r.Kind, r.Time = id, stopgate.RecordVersion, stopgate.RecordDecision, now.UTC()
	r.Status, r.Mode, r.Layer, r.Code, r.Enforced = stopgate.StatusDenied, &mode, stopgate.LayerFailure, code, &enforced
	r.ArgsBytes = int64(len(call.Args))
	if v, err := jsonstream.Parse(call.Args, jsonstream.Options{}); err == nil {
		sum := jsonstream.HashCanonical(v)
		r.ArgsHash, r.Args = hex.EncodeToString(sum[:]), call.Args
	}
	rows.Clean(&r)
	return r, nil
}
