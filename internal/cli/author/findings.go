package author

import (
	"errors"
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/ci"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/release"
)

// Where people read about the command and its codes.
const (
	homePage = "https://github.com/stopgate/stopgate"
	codePage = homePage + "/blob/main/docs/reference/diagnostics.md"
)

// writeFindings writes the findings of check in one of its formats.
func writeFindings(s cli.Streams, format cli.Format, list diag.List, set config.Set) error {
	switch format {
	case "json":
		return cli.WriteJSON(s.Out, list)
	case "sarif":
		return ci.SARIF(s.Out, list, ci.Tool{Version: release.Version(), Home: homePage, Help: codePage})
	case "github":
		return ci.GitHub(s.Out, annotations(list))
	case "junit":
		return ci.JUnit(s.Out, []ci.Suite{{Name: "stopgate check", Cases: checkedFiles(list, set)}})
	}
	_, err := io.WriteString(s.Out, cli.Coloured(s.Out, diag.Text(list, set.Text)))
	return errors.Join(err, checkSummary(s, list, len(set.Files)))
}

func annotations(list diag.List) []ci.Annotation {
	var all []ci.Annotation
	for _, d := range list {
		level := d.Severity.String()
		if d.Severity == diag.Note {
			level = "notice"
		}
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		all = append(all, ci.Annotation{
			Level: level, File: d.File, Line: d.Start.Line, Column: d.Start.Column, EndLine: d.End.Line, EndColumn: d.End.Column,
			Title: fmt.Sprintf("%s %s", d.Code, d.Code.Name()), Message: text,
		})
	}
	return all
}

// checkedFiles returns a test case for every file, which fails if the file has mistakes. Its
// details have the warnings and notes too.
func checkedFiles(list diag.List, set config.Set) []ci.Case {
	var cases []ci.Case
	for _, file := range set.Files {
		c := ci.Case{Name: file.Path, Class: "stopgate check", File: file.Path, Kind: "mistakes"}
		var own diag.List
		for _, d := range list {
			if d.File == file.Path {
				own = append(own, d)
			}
		}
		if mistakes := own.Errors(); len(mistakes) > 0 {
			c.Failure, c.Line = mistakes.Err().Error(), mistakes[0].Start.Line
			c.Detail = diag.Text(own, set.Text)
		}
		cases = append(cases, c)
	}
	return cases
}
