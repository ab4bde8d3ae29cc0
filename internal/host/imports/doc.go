// Package imports converts the permission rules of coding agents to a policy of stopgate.
//
//	result, err := imports.Read("claude-settings", []draft.File{{Name: ".claude/settings.json", Text: text}}, draft.Options{Root: "/srv/proj"})
//	...
//	os.Stdout.Write(result.Policy)
//	for _, r := range result.Rules {
//		fmt.Println(r.Text, r.Outcome, r.Note)
//	}
//
// Properties:
//
//   - No call gets a weaker verdict from the policy than from the original rules. A rule that
//     cannot be converted exactly becomes stricter: a permissive rule is narrowed or left out, a
//     restrictive rule is widened. Commands are compared as a shell reads them: blanks, and quotes
//     around a plain word, make no difference.
//   - Every rule of the source is in the report with its outcome. A rule that is reported as the
//     same gives the same decision for every plainly written call.
//   - The policy is in its canonical layout and passes a strict check; rules that would not are in
//     the report only.
//   - A source that cannot be parsed completely is an error, since the missing rules may be the
//     restrictive ones.
//
// It does no I/O.
package imports

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/host/imports/claude"
	"github.com/stopgate/stopgate/internal/host/imports/codex"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/host/imports/gemini"
	"github.com/stopgate/stopgate/internal/host/imports/jp"
	"github.com/stopgate/stopgate/internal/host/imports/opencode"
)

// readers are the conversions by the name of the rules in commands, which [hook.Host.Rules] has, and jp.
func readers() map[string]func([]draft.File, draft.Options) (*draft.Result, error) {
	return map[string]func([]draft.File, draft.Options) (*draft.Result, error){
		"claude-settings": claude.Convert, "codex-rules": codex.Convert, "gemini-policy": gemini.Convert, "opencode": opencode.Convert, "kilo": opencode.ConvertKilo, "jp": jp.Convert,
	}
}

// Read converts the rules with a name.
func Read(source string, files []draft.File, o draft.Options) (*draft.Result, error) {
	read := readers()[source]
	if read == nil {
		return nil, fmt.Errorf("there is no conversion of %q", source)
	}
	return read(files, o)
}
