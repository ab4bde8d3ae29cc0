package author

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/ci"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/visible"
)

// writeDifference writes a difference in one of its formats.
func writeDifference(s cli.Streams, format cli.Format, d *diff.Difference, set config.Set) error {
	list := findingsOf(d, set)
	switch format {
	case "sarif":
		return ci.SARIF(s.Out, list, ci.Tool{Version: release.Version(), Home: homePage, Help: codePage})
	case "github":
		return ci.GitHub(s.Out, annotations(list))
	case "text", "json":
		return format.Print(s.Out, differenceJSON(d), differenceText(d))
	}
	var cases []ci.Case
	for _, f := range list {
		c := ci.Case{Name: f.Message, Class: "stopgate diff", File: f.File, Line: f.Start.Line, Kind: f.Code.Name()}
		if f.Code != diag.TightenedCalls {
			c.Failure, c.Detail = f.Message, f.Hint
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		cases = append(cases, ci.Case{Name: summaryText(d), Class: "stopgate diff"})
	}
	return ci.JUnit(s.Out, []ci.Suite{{Name: "stopgate diff", Cases: cases}})
}

// findingsOf returns a finding for every change and for every edit that was not decided.
func findingsOf(d *diff.Difference, set config.Set) diag.List {
	file := set.Files[len(set.Files)-1].Path
	var list diag.List
	for _, c := range d.Changes {
		f := diag.Diagnostic{Code: diag.TightenedCalls, File: file}
		if loosened(c) {
			f.Code = diag.LoosenedCalls
		}
		place := c.New
		if c.Edit >= 0 && d.Edits[c.Edit].New != nil {
			place = d.Edits[c.Edit].New
		}
		if place != nil {
			f.File, f.Start.Line, f.Start.Column = place.File, max(place.Line, 1), 1
			f.End = f.Start
		}
		f.Message = fmt.Sprintf("%s %s: %s -> %s", c.Direction, visible.Text(toolsText(c.Tools)), c.From, c.To)
		f.Hint = "for example " + visible.Lines(witnessText(c.Witness))
		list.Add(f)
	}
	for _, c := range d.Sessions {
		code := diag.NotCompared
		switch c.Direction {
		case diff.Loosened:
			code = diag.LoosenedCalls
		case diff.Tightened:
			code = diag.TightenedCalls
		}
		list.Add(diag.Diagnostic{Code: code, File: file, Message: visible.Text(c.String())})
	}
	for _, open := range d.Open {
		list.Add(diag.Diagnostic{Code: diag.NotCompared, File: file, Message: "not decided: " + visible.Text(open)})
	}
	return list
}
