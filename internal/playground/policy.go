package playground

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Limits of the input in bytes.
const (
	MaxPolicy = 256 << 10
	MaxArgs   = 64 << 10
	MaxBefore = 64 << 10
	MaxTool   = 1 << 10
	maxLines  = 100 // of what came before the call
)

// FileName is the name of the policy in verdicts and findings.
const FileName = "stopgate.toml"

// Policy is a compiled policy file.
type Policy struct{ program *policy.Program }

// Report describes a policy file.
type Report struct {
	// Valid reports that the file has no mistake: calls can be decided.
	Valid bool `json:"valid"`
	// Findings are mistakes, traps and notes, with places and remedies.
	Findings []diag.Diagnostic `json:"findings"`
	// Tools are the tools that the file names.
	Tools []stopgate.ToolName `json:"tools"`
	// Rules is the number of rules and guards, with those of packs.
	Rules int `json:"rules"`
	// Hash identifies the policy in records.
	Hash string `json:"hash,omitempty"`
}

// Compile compiles a policy file as the commands do: the file is the operator's, and every mistake
// is found. The policy is nil if there is one.
func Compile(text []byte) (*Policy, Report) {
	r := Report{Findings: []diag.Diagnostic{}, Tools: []stopgate.ToolName{}}
	if len(text) > MaxPolicy {
		r.Findings = append(r.Findings, diag.Diagnostic{
			File: FileName, Message: fmt.Sprintf("the policy has %d bytes, and the playground takes %d", len(text), MaxPolicy),
			Hint: "use stopgate check for files of any size",
		})
		return nil, r
	}
	program, found := prove.Compile([]policy.Source{{Name: FileName, Text: text, Trusted: true}}, policy.Options{Known: knowntools.Recognise})
	found.Sort()
	r.Findings = append(r.Findings, found...)
	if program == nil || found.HasErrors() {
		return nil, r
	}
	for name := range program.Tools() {
		r.Tools = append(r.Tools, stopgate.ToolName(name))
	}
	slices.Sort(r.Tools)
	for range program.Rules() {
		r.Rules++
	}
	r.Valid, r.Hash = true, program.Hash()
	return &Policy{program}, r
}
