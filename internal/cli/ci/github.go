package ci

import (
	"fmt"
	"io"
	"strings"
)

// Annotation is a message at a location in a file. Zero numbers are omitted.
type Annotation struct {
	Level             string // "error", "warning" or "notice"
	File              string
	Line, EndLine     int // from 1
	Column, EndColumn int // from 1, in characters; EndColumn is exclusive
	Title, Message    string
}

var (
	// A message ends at a line end, a property also at a comma or colon; the runner unescapes
	// percent signs.
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub writes annotations as workflow commands, one line each.
func GitHub(w io.Writer, list []Annotation) error {
	for _, a := range list {
		var properties []string
		add := func(name, value string) {
			if value != "" && value != "0" {
				properties = append(properties, name+"="+escapeProperty.Replace(value))
			}
		}
		add("file", a.File)
		add("line", fmt.Sprint(a.Line))
		add("endLine", fmt.Sprint(a.EndLine))
		if a.Line == a.EndLine || a.EndLine == 0 { // columns apply to a single line only
			add("col", fmt.Sprint(a.Column))
			if a.EndColumn > a.Column {
				add("endColumn", fmt.Sprint(a.EndColumn-1)) // the runner's end is inclusive
			}
		}
		add("title", a.Title)
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", a.Level, strings.Join(properties, ","), escapeData.Replace(a.Message)); err != nil {
			return err
		}
	}
	return nil
}
