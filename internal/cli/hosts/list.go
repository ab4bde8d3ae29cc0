package hosts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/visible"
)

// hookJSON is a hook in the settings of an agent; it changes only by addition.
type hookJSON struct {
	Host  string        `json:"host"`
	Scope install.Scope `json:"scope"`
	File  string        `json:"file"`
	// Programs are those that the host starts.
	Programs []string `json:"programs"`
	// Remove is the command that takes the hook out.
	Remove string `json:"remove"`
}

// installedHooks lists the hooks of stopgate in the settings of this user and of the project in the
// working directory. Settings that cannot be read are an error: there may be a hook in them.
func installedHooks() (list []hookJSON, err error) {
	for _, h := range hook.All() {
		for _, project := range []bool{false, true} {
			f := installFlags{project: project}
			p, err := f.at(h.Name)
			if err != nil {
				continue // the host has no such settings
			}
			at, err := f.place()
			if err != nil {
				return nil, err
			}
			for _, p := range append([]*install.Plan{p}, p.Also...) {
				text, err := readSettings(p.File)
				if err != nil {
					return nil, fmt.Errorf("list the hooks of %s: %w", h.Title, err)
				}
				lines := p.Lines(text)
				if len(lines) == 0 || slices.ContainsFunc(list, func(o hookJSON) bool { return o.File == p.File && o.Host == h.Name }) {
					continue
				}
				one := hookJSON{Host: h.Name, Scope: at.Scope, File: p.File, Remove: "stopgate uninstall " + h.Name}
				if project {
					one.Remove += " --project"
				}
				for _, line := range lines {
					if program, _ := install.Program(line); !slices.Contains(one.Programs, program) {
						one.Programs = append(one.Programs, program)
					}
				}
				list = append(list, one)
			}
		}
	}
	return list, nil
}

// hooksJSON is the report of uninstall --list; it changes only by addition.
type hooksJSON struct {
	Hooks []hookJSON `json:"hooks"`
}

// printHooks lists the hooks for uninstall --list.
func printHooks(s cli.Streams, format *cli.Format) error {
	list, err := installedHooks()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, h := range list {
		fmt.Fprintf(&text, "%s: %s starts %s\n", h.Remove, visible.Text(h.File), visible.Text(strings.Join(h.Programs, ", ")))
	}
	if len(list) == 0 {
		text.WriteString("no hook of stopgate in your settings or in those of this project\n")
	}
	return format.Print(s.Out, hooksJSON{append([]hookJSON{}, list...)}, text.String())
}
