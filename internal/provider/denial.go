package provider

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
)

// DenialText returns the line that replaces a call that was not run:
//
//	[stopgate] The tool call `NAME` was not run: PUBLIC_REASON (CODE).
//
// The line contains the tool name only if the policy or the request declares it (S21). The
// reason is reduced to one line; an empty reason becomes the public text of the code. The
// line never contains argument values. It is data: a caller that writes it into a response
// encodes it as a JSON string (L11, F19).
func DenialText(tool stopgate.ToolName, declared bool, public string, code stopgate.Code) string {
	name := "this tool"
	if declared && stopgate.ValidToolName(tool) {
		name = string(tool)
	}
	if public == "" {
		public = code.Public()
	}
	return "[stopgate] The tool call `" + name + "` was not run: " + sentence(public) + " (" + string(code) + ")."
}

// StoppedText is appended to the denial of the call at which the upstream was cancelled.
const StoppedText = "The answer was stopped at this call: tool calls that would have followed it were not made."

// sentence reduces a reason to one line of valid UTF-8 and removes its trailing period, so
// that the reason of a rule cannot look like a second line of the gate.
func sentence(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == 0x85 || r == 0x2028 || r == 0x2029 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSuffix(strings.TrimSpace(s), ".")
}
