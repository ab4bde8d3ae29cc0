package hosts

import (
	"context"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/record/records"
)

// versionOf asks the host's program for its version; "" if it is not here.
func versionOf(ctx context.Context, h *hook.Host) string {
	path, err := exec.LookPath(h.Program)
	if h.Program == "" || err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first
}

// named finds the policy files that a hook's command line names.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--policy[ =]('[^']*'|\S+)`) })

// cover lists the host's tools that no table of the policy names, and those whose parameters no
// guard reads.
func (c *checkup) cover(ctx context.Context, h *hook.Host) {
	var f inputs.Policy
	for _, line := range c.Commands {
		for _, m := range named().FindAllStringSubmatch(line, -1) {
			if name := strings.Trim(m[1], "'"); !slices.Contains(f.Files, name) {
				f.Files = append(f.Files, name)
			}
		}
	}
	l, err := f.Load(io.Discard)
	if err != nil {
		return // the canary reports it
	}
	for _, k := range h.KnownTools() {
		call := stopgate.Call{Tool: k.Name, Definition: &k.ToolDefinition, Surface: stopgate.SurfaceHook, Agent: "main", Principal: hook.Principal}
		if _, unknown := l.Program.Bind(call).Unknown(); unknown && !k.Harmless {
			c.Uncovered = append(c.Uncovered, string(k.Name))
		}
		if !k.Guarded && !k.Harmless {
			c.Unseen = append(c.Unseen, string(k.Name))
		}
	}
	c.Met = metTools(ctx, h, l)
}

// metTools lists the tools that were called in the last month, that no table names and
// that the adapter does not know.
func metTools(ctx context.Context, h *hook.Host, l inputs.Loaded) (names []string) {
	settings, err := inputs.StateOf(l, inputs.State{})
	if err != nil || settings.Store == place.Memory {
		return nil
	}
	log, err := inputs.OpenRecords(ctx, settings.Store)
	if err != nil {
		return nil
	}
	defer log.Close()
	since := time.Now().AddDate(0, 0, -30)
	_, _ = log.Rows(ctx, records.Mark{}, &records.Filter{Since: since}, func(r records.Row) bool {
		if r.Dialect == h.Name && r.Tool != "" && !slices.Contains(names, string(r.Tool)) {
			names = append(names, string(r.Tool))
		}
		return ctx.Err() == nil
	})
	known := h.KnownTools()
	return slices.DeleteFunc(names, func(name string) bool {
		call := stopgate.Call{Tool: stopgate.ToolName(name), Definition: &stopgate.ToolDefinition{Name: stopgate.ToolName(name)}, Surface: stopgate.SurfaceHook, Agent: "main", Principal: hook.Principal}
		_, unknown := l.Program.Bind(call).Unknown()
		return !unknown || slices.ContainsFunc(known, func(k hook.KnownTool) bool { return string(k.Name) == name })
	})
}
