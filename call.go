package stopgate

// Identifiers are named types, so that one cannot be passed for another.
type (
	ToolName   string // as declared to the model; ValidToolName checks its form
	CallID     string // the provider's or host's id of a call; ids repeat, see ProposalID
	ProposalID string // the gate's own id of a call: a ULID assigned by Open (S23)
	SessionID  string // one conversation
	AgentName  string // the agent that proposes the call
	TurnID     string // one model response
	ServerID   string // the MCP server that offers the tool
	Principal  string // on whose behalf the call is made
	RuleID     string // hash of a rule's canonical text and its tool
)

// Surface is the enforcement point that a call came through.
type Surface string

// The surfaces.
const (
	SurfaceLibrary Surface = "library"
	SurfaceGateway Surface = "gateway"
	SurfaceMCP     Surface = "mcp"
	SurfaceHook    Surface = "hook"
	SurfaceAgent   Surface = "agent"
	SurfaceDecide  Surface = "decide"
)

// Call is a tool call that a model proposes.
type Call struct {
	Tool      ToolName
	ID        CallID
	Session   SessionID
	Turn      TurnID
	Agent     AgentName
	Principal Principal
	Groups    Groups // of the principal
	Server    ServerID
	Surface   Surface
	Dialect   string // wire format the call came in: "openai-chat", "anthropic", ...
	// Conversation is the part of the session whose texts the call may come from; "" is the
	// session. Without a session it names texts of its own.
	Conversation string
	// Definition is the tool's definition in the request, at the server or in the
	// program; nil if there is none.
	Definition *ToolDefinition
	// Args are the complete arguments as received. Decide takes them; Open
	// refuses a call that has them.
	Args []byte
}

// ToolDefinition is a tool as a request, an MCP server or a program declares it.
type ToolDefinition struct {
	Name        ToolName
	Description string
	// Schema is the tool's parameters as JSON Schema text; empty if none was given.
	Schema []byte
	// EmptyMeansNone reports whether the dialect documents empty argument text as "no
	// arguments" (A14).
	EmptyMeansNone bool
	// Pinned reports whether the caller has compared the definition with the accepted one
	// of the call's server and found it equal (G4). The tables of known tools for a server
	// of that name then apply to this one.
	Pinned bool
	// Strict reports whether the request forces a call of the tool, or has the provider
	// hold its arguments to the schema, as frameworks do to get structured answers.
	Strict bool
}

// MaxToolName is the longest legal tool name in bytes (G1).
const MaxToolName = 128

// ValidToolName reports whether a name is valid: 1 to 128 characters of
// A-Z a-z 0-9 _ . : - (G1). Calls with any other name are denied as unknown tools.
func ValidToolName(name ToolName) bool {
	if len(name) == 0 || len(name) > MaxToolName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '.', c == ':', c == '-':
		default:
			return false
		}
	}
	return true
}

// End is the way in which the argument text of a call ended.
type End uint8

// The zero End is Failed: a call without a reported end is not complete.
const (
	Failed    End = iota // the transport or upstream failed
	Ended                // a normal end was signalled
	Truncated            // the stream was cut: length, filter, end of input
	Cancelled            // the exchange was cancelled
)

// String names the end for records.
func (e End) String() string {
	switch e {
	case Ended:
		return "ended"
	case Truncated:
		return "truncated"
	case Cancelled:
		return "cancelled"
	}
	return "failed"
}
