package stopgate

// Review is a judge's answer about a call, as audit rows hold it (S25):
// what was asked of whom, and what came back, so that replay needs no model
// (X4). Of arguments it holds hashes.
type Review struct {
	Model  string `json:"model,omitempty"`
	Prompt string `json:"prompt,omitempty"` // SHA-256 in hex of the instructions and the form of the answer
	Input  string `json:"input,omitempty"`  // SHA-256 in hex of what was said about the call
	// Mode is the weakest mode that the judge accepts; of a failure, what stands for it.
	Mode Mode `json:"mode"`
	// Probability is the estimate that the call is harmful, nil if there is none.
	Probability *float64 `json:"probability,omitempty"`
	Threshold   *float64 `json:"threshold,omitempty"` // from which on it objects
	// Explanation is the model's own sentence, without what it quotes of arguments.
	Explanation string `json:"explanation,omitempty"`
	Attempts    int    `json:"attempts,omitempty"` // requests that were made
	Cached      bool   `json:"cached,omitempty"`   // the answer to the same proposal, given before
	Millis      int64  `json:"ms"`                 // how long it took
	// API is the dialect that the model was asked in, Address HOST:PORT. They are for
	// telemetry and no part of rows.
	API     string `json:"-"`
	Address string `json:"-"`
	Fault   string `json:"fault,omitempty"` // a word for why there is no answer
}
