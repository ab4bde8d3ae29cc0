package stopgate

import "time"

// Review is a judge's review of a call, as audit rows hold it (S25), so that replay
// needs no model (X4). It has hashes of the arguments only.
type Review struct {
	Model  string `json:"model,omitempty"`
	Prompt string `json:"prompt,omitempty"` // SHA-256 in hex of the instructions and the form of the answer
	Input  string `json:"input,omitempty"`  // SHA-256 in hex of the description of the call
	// Mode is the weakest mode that the judge accepts, or the mode configured for failures.
	Mode Mode `json:"mode"`
	// Probability is the estimate that the call is harmful, nil if there is none.
	Probability *float64 `json:"probability,omitempty"`
	Threshold   *float64 `json:"threshold,omitempty"` // the probability from which the judge objects
	// Explanation is the model's own sentence, without its quotes of arguments.
	Explanation string `json:"explanation,omitempty"`
	Attempts    int    `json:"attempts,omitempty"` // number of requests
	Cached      bool   `json:"cached,omitempty"`   // from the cache of answers to the same proposal
	Millis      int64  `json:"ms"`                 // how long it took
	// API is the dialect of the request, Address the HOST:PORT. They are for telemetry
	// and not part of rows.
	API     string `json:"-"`
	Address string `json:"-"`
	Fault   string `json:"fault,omitempty"` // why there is no answer, such as "timeout"
}

// ExternalAnswer is the answer of an external policy about a call, as audit rows hold it, so
// that replay need not ask again. It has hashes of the arguments only.
type ExternalAnswer struct {
	Policy  string `json:"policy"`            // name of the table [[external]]
	Version string `json:"version,omitempty"` // that the service names in its answer
	Hook    string `json:"hook"`              // the kind of question, such as "gate"
	// Answer is the decision: "allow", "ask" or "deny"; "noted" or "unchanged" of a result;
	// "changed" of an event. It is "" if the service gave no valid answer.
	Answer string `json:"answer,omitempty"`
	Code   Code   `json:"code,omitempty"`
	// Probability is the estimate of a judge that the call is harmful, nil for other hooks.
	Probability *float64  `json:"probability,omitempty"`
	Input       string    `json:"input,omitempty"` // SHA-256 in hex of the question without its id
	Time        time.Time `json:"time"`            // when the answer arrived
	Micros      int64     `json:"us"`              // how long it took
	Count       int64     `json:"count,omitempty"` // of an exchange: the number of such answers
	Fault       string    `json:"fault,omitempty"` // why there is no answer, such as "timeout"
}
