package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Known is a built-in tool of a host, as its hook declares it.
type Known struct {
	stopgate.ToolDefinition
	// Harmless says that the tool changes nothing and reveals nothing outside of the
	// project (DECISIONS S33).
	Harmless bool
	// Seen says that guards see paths, commands or addresses in its calls.
	Seen bool
}

// Known lists the tools of the host that the adapter knows.
func (h *Host) Known() (list []Known) {
	if h.tools == nil {
		return nil
	}
	for _, t := range h.tools.list {
		for name := range strings.FieldsSeq(t.names) {
			list = append(list, Known{
				ToolDefinition: *t.definition(stopgate.ToolName(name)), Harmless: t.harmless,
				Seen: t.patch != "" || strings.Contains(t.args, "="),
			})
		}
	}
	return list
}
