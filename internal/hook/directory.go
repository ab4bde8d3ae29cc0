package hook

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// usualWorkDirs are common names of the parameter for the working directory of a command.
var usualWorkDirs = strings.Fields("workdir working_dir working_directory workingDirectory workingDir cwd dir dir_path directory")

// setWorkDir sets the working directory of the call's command lines (C3, K19). A tool with
// known parameters uses it; for other tools it is uncertain whether they do.
func (t contract) setWorkDir(e *Event) {
	args, err := jsonstream.Parse(e.Call.Args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return // the gate rejects the arguments
	}
	var known []string
	runs := t.unknown() // the policy may know commands of tools that no table knows
	for _, p := range t.Parameters {
		switch p.Kind {
		case knowntools.Command, knowntools.Argv:
			runs = true
		case knowntools.Directory:
			known = append(known, p.Name)
		}
	}
	if !runs {
		return
	}
	for _, name := range slices.Concat(known, usualWorkDirs) {
		v, ok := args.Get(name)
		switch {
		case !ok, v.Kind() == jsonstream.Null, v.Kind() == jsonstream.String && v.Text() == "":
			continue // the tool uses the session's directory
		case v.Kind() != jsonstream.String || !isPlainDirectory(v.Text()):
			e.RunUnknown = true
			continue
		case e.Run != "" && e.resolveDir(v.Text()) != e.resolveDir(e.Run):
			e.RunUnknown = true
		}
		e.Run = v.Text()
		e.RunUncertain = e.RunUncertain || !slices.Contains(known, name)
	}
}

// resolveDir resolves dir in the directory of the session.
func (e *Event) resolveDir(dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Clean(e.Dir + "/" + dir)
}

// isPlainDirectory reports whether all tools interpret the non-empty name in the same way.
func isPlainDirectory(name string) bool {
	return utf8.ValidString(name) && name[0] != '~' && strings.TrimSpace(name) == name && !strings.Contains(name, "://") &&
		!strings.ContainsAny(name, "\\$%`*?\"'") && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
