package hook

import "github.com/stopgate/stopgate/jsonstream"

// Model is a scripted model that a host uses in place of its own.
type Model struct {
	URL    string // base address of its API, without a path
	Name   string
	Prompt string // what the user asks for
}

// Live is how a host is run without a user against a scripted model.
type Live struct {
	// Tool is the tool that runs a shell command, as the model knows it, and Args are its
	// arguments for a command.
	Tool string
	Args func(command string) string
	// Words are the arguments of the host's program, and Env its additional environment.
	Words, Env []string
	// Files are settings, by their path below the home directory. WorkDir in a text is the
	// directory in which the host runs.
	Files map[string]string
	// Beside are settings that belong in File, unless that is the file with the hook.
	File, Beside string
	// Google reports that the host uses the API of Gemini.
	Google bool
}

// WorkDir represents the working directory in [Live.Files].
const WorkDir = "${WORK}"

// commandArgs returns arguments that contain the command in a member.
func commandArgs(member string) func(command string) string {
	return func(command string) string { return string(new(members).str(member, command).end()) }
}

// describedArgs returns the command with the description that some hosts require.
func describedArgs(command string) string {
	return string(new(members).str("command", command).str("description", "work").end())
}

func quoted(text string) string { return string(jsonstream.AppendQuote(nil, text)) }
