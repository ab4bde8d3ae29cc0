package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Judge is the [judge] table of one file: a model that reviews the calls that every deterministic
// layer allows (V3-19, S29). Evaluations do not use it; enforcement points get the judges from
// policy.Program.
type Judge struct {
	Tools    []string // names and globs of the tools whose calls are reviewed
	Model    string
	API      string // "openai" or "anthropic"
	BaseURL  string // "" for the default address of the provider
	KeyEnv   string // environment variable with the key
	KeyFile  string // file with the key
	Guidance string // instructions that the operator adds
	// Threshold is the probability of harm, 0 to 1, from which on the judge objects.
	Threshold float64
	Mode      stopgate.Mode // the effect of an objection: Deny or Ask
	OnError   stopgate.Mode // the effect of a failure: Deny or Ask
	Observe   bool          // review in observe mode too (S31)
	Explain   bool          // show the explanation to the model and the user
	Timeout   int64         // milliseconds for the complete review with its retries
	Cache     int64         // milliseconds for which the answer to the same proposal is cached (S27)
	MaxBytes  int           // limit of the size of arguments; longer ones cannot be reviewed
	File      string
	Pos       diag.Range
}

// Governs reports whether calls of a tool are reviewed.
func (j *Judge) Governs(tool stopgate.ToolName) bool { return MatchesAny(j.Tools, string(tool)) }

// Meaning returns the keys that affect verdicts on one line. The endpoint and the credentials are
// not part of it.
func (j *Judge) Meaning() string {
	tools := slices.Clone(j.Tools)
	slices.Sort(tools)
	return fmt.Sprintf("%s model=%q guidance=%q threshold=%s mode=%s on_error=%s max_bytes=%d", strings.Join(tools, " "),
		j.Model, j.Guidance, strconv.FormatFloat(j.Threshold, 'g', -1, 64), j.Mode, j.OnError, j.MaxBytes)
}
