package sdk

// policy denies what names itself denied, asks about what says so, and allows the
// rest.
const policy = `version = 1

[api.tokens.anna]
scopes = ["approve"]
env = "ANNA_TOKEN"

[tools."*".parameters]
path = { type = "string" }

[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = [
  { arg = "/path", const = "denied", mode = "deny", reason = "not this one" },
  { arg = "/path", prefix = "asked", mode = "ask" },
  { mode = "unattended" },
]
`

// token is what the person who approves shows.
const token = "3d1c3a7e5b9f48c2"

// denial is the line that stands for a denied call.
func denial(tool, reason, code string) string {
	return "[stopgate] The tool call `" + tool + "` was not run: " + reason + " (" + code + ")."
}
