package stopgate

import (
	"encoding/json"
	"unicode/utf8"
)

// Envelope is the normalized result of a call or handoff for the model (G2-15, S10). In JSON
// it always has these four members, in this order.
type Envelope struct {
	// Status is "ok" for a call that was allowed, whether or not its tool failed, and
	// "denied" for one that was denied or skipped.
	Status string `json:"status"`
	// Code is the reason of a denial; null in JSON if the status is "ok".
	Code Code `json:"code"`
	// PublicReason is the sentence for the model; null in JSON if the status is "ok".
	PublicReason string `json:"publicReason"`
	// Data is the result of the tool or the payload of the handoff as a JSON value; null in
	// JSON on a denial, and before there is a result.
	Data json.RawMessage `json:"data"`
}

// Envelope returns the envelope of the outcome, without data. A denial without a public
// reason has the public text of its code.
func (o Outcome) Envelope() Envelope {
	if o.Allowed() {
		return Envelope{Status: "ok"}
	}
	public := o.Verdict.Public
	if public == "" {
		public = o.Verdict.Code.Public()
	}
	return Envelope{Status: "denied", Code: o.Verdict.Code, PublicReason: public}
}

// WithData returns the envelope with a result: valid JSON unchanged, other data as a JSON
// string. It returns the envelope of a denial unchanged.
func (e Envelope) WithData(data []byte) Envelope {
	if e.Status != "ok" || data == nil {
		return e
	}
	if e.Data = data; !utf8.Valid(data) || !json.Valid(data) {
		e.Data, _ = json.Marshal(string(data)) // a string always marshals
	}
	return e
}

// MarshalJSON writes an empty code and reason as null.
func (e Envelope) MarshalJSON() ([]byte, error) {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return json.Marshal(struct {
		Status       string          `json:"status"`
		Code         *string         `json:"code"`
		PublicReason *string         `json:"publicReason"`
		Data         json.RawMessage `json:"data"`
	}{e.Status, text(string(e.Code)), text(e.PublicReason), e.Data})
}
