package inspect

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// aboutKeys are the arguments that describe a call best, the best first.
var aboutKeys = []string{
	"command", "cmd", "path", "file_path", "filePath", "filepath", "filename", "notebook_path", "target_file", "absolute_path", "uri", "url", "patch", "input", "pattern", "query",
}

// maxCalled is how many characters a row shows of a call.
const maxCalled = 60

// calledWith returns the command or path of a call, else its first text, else its arguments, on
// one line that is safe to print.
func calledWith(args []byte) string {
	root, err := jsonstream.Parse(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil || root.Kind() != jsonstream.Object {
		return ""
	}
	best, text := len(aboutKeys)+1, string(args)
	for key, value := range root.Members() {
		rank := slices.Index(aboutKeys, key.Text())
		if rank < 0 {
			rank = len(aboutKeys)
		}
		if about := aboutOf(value); rank < best && about != "" {
			best, text = rank, about
		}
	}
	if text == "{}" {
		return ""
	}
	return visible.Text(visible.Elide(text, maxCalled))
}

// aboutOf is a string, or the words of an argument vector; "" of everything else.
func aboutOf(value jsonstream.Value) string {
	if value.Kind() != jsonstream.Array {
		return stringOf(value)
	}
	var words []string
	for element := range value.Elements() {
		words = append(words, stringOf(element))
	}
	if slices.Contains(words, "") {
		return ""
	}
	return strings.Join(words, " ")
}

func stringOf(value jsonstream.Value) string {
	if value.Kind() != jsonstream.String {
		return ""
	}
	return value.Text()
}
