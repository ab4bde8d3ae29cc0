package agent

import (
	"context"
	"fmt"

	"github.com/stopgate/stopgate"
)

// Join combines several runners. If two have a tool of the same name, the first one is
// used.
func Join(list ...Runner) Runner { return runners(list) }

type runners []Runner

// Definitions implements [Runner].
func (j runners) Definitions(ctx context.Context) (list []Tool) {
	seen := map[stopgate.ToolName]bool{}
	for _, r := range j {
		for _, t := range r.Definitions(ctx) {
			if !seen[t.Name] {
				seen[t.Name] = true
				list = append(list, t)
			}
		}
	}
	return list
}

// of returns the runner of a tool, nil if there is none.
func (j runners) of(tool stopgate.ToolName) Runner {
	for _, r := range j {
		if r.Has(tool) {
			return r
		}
	}
	return nil
}

// Has implements [Runner].
func (j runners) Has(tool stopgate.ToolName) bool { return j.of(tool) != nil }

// Run implements [Runner].
func (j runners) Run(ctx context.Context, t Task) Result {
	if r := j.of(t.Tool); r != nil {
		return r.Run(ctx, t)
	}
	return Result{Text: fmt.Sprintf("error: there is no tool %q", t.Tool), Failed: true}
}

// Preview implements [Runner].
func (j runners) Preview(tool stopgate.ToolName, args string) string {
	if r := j.of(tool); r != nil {
		return r.Preview(tool, args)
	}
	return ""
}
