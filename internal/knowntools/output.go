package knowntools

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// outputs are the names of the tools through which models return structured answers in agent
// frameworks: pydantic-ai, LangChain and LangGraph, the Vercel AI SDK, Claude's agent SDK,
// smolagents and DSPy. A call of such a tool runs no code.
var outputs = []string{"final_result", "final_answer", "json", "StructuredOutput", "submit_output"}

// handoff begins the names of tools with which the agents of the OpenAI Agents SDK, LangGraph
// and AutoGen hand a conversation over.
const handoff = "transfer_to_"

// output reports whether a tool of a request to the LLM gateway is the form of the model's
// answer, or a handoff. The name is not sufficient: the request must force the call or be
// strict about its arguments, and the tool must not be one of a server or a known host.
func output(call stopgate.Call) (answer, transfer bool) {
	d := call.Definition
	if call.Surface != stopgate.SurfaceGateway || call.Server != "" || d == nil || !d.Strict || len(ByName(string(call.Tool))) > 0 {
		return false, false
	}
	return slices.Contains(outputs, string(call.Tool)), strings.HasPrefix(string(call.Tool), handoff) && len(call.Tool) > len(handoff)
}
