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

// directories are the usual names of the parameter that says where a command runs.
var directories = strings.Fields("workdir working_dir working_directory workingDirectory workingDir cwd dir dir_path directory")

// directory notes where the call says that its command lines run (THREATS C3, K19). A tool
// of whose parameters a table knows it runs them there; of any other nobody knows whether
// it looks at the parameter.
func (t contract) directory(e *Event) {
	args, err := jsonstream.Parse(e.Call.Args, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return // the gate refuses it
	}
	var known []string
	runs := t.unknown() // of tools that no table knows, a policy may know more
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
	for _, name := range slices.Concat(known, directories) {
		v, ok := args.Get(name)
		switch {
		case !ok, v.Kind() == jsonstream.Null, v.Kind() == jsonstream.String && v.Text() == "":
			continue // it runs where the session works
		case v.Kind() != jsonstream.String || !isPlainDirectory(v.Text()):
			e.RunLost = true
			continue
		case e.Run != "" && e.below(v.Text()) != e.below(e.Run):
			e.RunLost = true
		}
		e.Run = v.Text()
		e.RunDoubt = e.RunDoubt || !slices.Contains(known, name)
	}
}

// below is a directory as it is read from that of the session.
func (e *Event) below(dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Clean(e.Dir + "/" + dir)
}

// isPlainDirectory reports that no tool takes a name that is not empty for something else
// than another does.
func isPlainDirectory(name string) bool {
	return utf8.ValidString(name) && name[0] != '~' && strings.TrimSpace(name) == name && !strings.Contains(name, "://") &&
		!strings.ContainsAny(name, "\\$%`*?\"'") && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
