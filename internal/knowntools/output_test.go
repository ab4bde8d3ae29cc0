package knowntools_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// A tool is recognised as the form of an answer, or as a handoff, at the LLM gateway only, by
// its name and by the request; a name alone, a request alone, a server's tool and a host's are
// nothing.
func TestOutputs(t *testing.T) {
	strict := &stopgate.ToolDefinition{Strict: true}
	gateway := func(tool stopgate.ToolName, d *stopgate.ToolDefinition) stopgate.Call {
		return stopgate.Call{Tool: tool, Surface: stopgate.SurfaceGateway, Dialect: "openai-chat", Definition: d}
	}
	on := func(surface stopgate.Surface, server stopgate.ServerID) stopgate.Call {
		return stopgate.Call{Tool: "final_result", Surface: surface, Server: server, Definition: strict}
	}
	for _, c := range []struct {
		name             string
		call             stopgate.Call
		output, transfer bool
	}{
		{"final_result", gateway("final_result", strict), true, false},
		{"final_answer", gateway("final_answer", strict), true, false},
		{"json", gateway("json", strict), true, false},
		{"StructuredOutput", gateway("StructuredOutput", strict), true, false},
		{"submit_output", gateway("submit_output", strict), true, false},
		{"transfer_to_billing", gateway("transfer_to_billing", strict), false, true},
		{"a transfer without a target", gateway("transfer_to_", strict), false, false},
		{"the name alone", gateway("final_result", &stopgate.ToolDefinition{}), false, false},
		{"an undeclared name", gateway("final_result", nil), false, false},
		{"the request alone", gateway("deploy", strict), false, false},
		{"another case", gateway("Final_Result", strict), false, false},
		{"a longer name", gateway("final_result2", strict), false, false},
		{"a tool of a known product", gateway("Bash", strict), false, false},
		{"a server's", on(stopgate.SurfaceGateway, "s"), false, false},
		{"MCP", on(stopgate.SurfaceMCP, "s"), false, false},
		{"hook", on(stopgate.SurfaceHook, ""), false, false},
		{"agent", on(stopgate.SurfaceAgent, ""), false, false},
		{"decide", on(stopgate.SurfaceDecide, ""), false, false},
		{"library", on(stopgate.SurfaceLibrary, ""), false, false},
	} {
		if known, _ := knowntools.Recognise(c.call); known.Output != c.output || known.Handoff != c.transfer {
			t.Errorf("%s: %+v", c.name, known)
		}
	}
}
