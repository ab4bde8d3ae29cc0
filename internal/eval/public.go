package eval

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Default public texts of verdicts without a rule's reason: the remedy, as far as it can be stated
// without values of the call. They may contain pointers, which the caller wrote, and requirements
// of the tool's schema, which the caller has.

// unexplained returns the text for a rule without a reason.
func unexplained(v *stopgate.Verdict) string {
	var text string
	switch {
	case v.Code == stopgate.CodeRuleMatched && v.Mode == stopgate.Deny:
		text = "A rule of the policy denies this call"
	case v.Code == stopgate.CodeRuleSkipped:
		text = "A rule of the policy skips this call"
	default:
		return v.Code.Public()
	}
	if plain(v.Pointer) {
		text += " because of its argument " + v.Pointer
	}
	return text + "."
}

// public returns the text for an integrity error.
func (f *fault) public() string {
	if f.code != stopgate.CodeSchemaViolation || f.pointer != "" && !plain(f.pointer) {
		return f.code.Public()
	}
	cause := f.cause
	if strings.HasPrefix(cause, "must match the pattern ") {
		cause = "must match its pattern"
	}
	// The names in it come from the schema: texts that a server chose must not be repeated here.
	for i, part := range strings.Split(cause, `"`) {
		if i%2 == 1 && !plain(part) {
			return f.code.Public()
		}
	}
	return detailed(f.code, strings.TrimSpace(f.pointer+" "+cause))
}

func (e *decision) floorPublic(f *stopgate.Floor) string {
	if f.Code == stopgate.CodePathNotKnown {
		return e.unknownPaths.Public()
	}
	if f.Code != stopgate.CodeUnknownParameter || !plain(f.Pointer) {
		return f.Code.Public()
	}
	return detailed(f.Code, f.Pointer)
}

func detailed(code stopgate.Code, detail string) string {
	return strings.TrimSuffix(code.Public(), ".") + ": " + detail + "."
}

// plain reports whether a name or a pointer can be part of a sentence: it is short and contains no
// words of its own.
func plain(text string) bool {
	for i := range len(text) {
		c := text[i] | 0x20
		if (c < 'a' || c > 'z') && (text[i] < '-' || text[i] > '9') && text[i] != '_' && text[i] != '~' {
			return false
		}
	}
	return text != "" && len(text) <= 80
}
