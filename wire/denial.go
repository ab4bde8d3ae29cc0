package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
)

// DenialText is the line that stands for a call that was not run (WIRE 0.2):
//
//	[stopgate] The tool call `NAME` was not run: PUBLIC_REASON (CODE).
//
// The name is printed only if the policy or the request declares it (DECISIONS
// S21), the reason is one line; an empty reason is the code's public text. The
// line never holds argument values, and it is data: whoever writes it into a
// response encodes it as a JSON string (L11, F19).
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

// StoppedText follows the denial of the call at which a response was cut off.
const StoppedText = "The answer was stopped at this call: tool calls that would have followed it were not made."

// sentence puts a reason on one line of valid UTF-8 and takes its full stop off:
// a rule's reason must not look like a second line of ours.
func sentence(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == 0x85 || r == 0x2028 || r == 0x2029 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSuffix(strings.TrimSpace(s), ".")
}
