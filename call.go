package stopgate

// Identifiers are named types, so that one cannot be passed for another.
type (
	ToolName   string // as declared to the model; judged against ValidToolName
	CallID     string // the provider's or host's id of a call; ids repeat, see ProposalID
	ProposalID string // the gate's own id of a call: a ULID given at Open (S23)
	SessionID  string // one conversation
	AgentName  string // the agent that proposes the call
	TurnID     string // one model response
	ServerID   string // the MCP server that offers the tool
	Principal  string // on whose behalf the call is made
	RuleID     string // hash of a rule's canonical text and its tool
)

// Surface is a place where calls pass.
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
	Server    ServerID
	Surface   Surface
	Dialect   string // wire format the call came in: "openai-chat", "anthropic", ...
	// Definition is what the request, the server or the program declared for the
	// tool; nil if nothing did.
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
	// EmptyMeansNone says that the dialect documents empty argument text as "no
	// arguments" (A14).
	EmptyMeansNone bool
	// Pinned says that the definition is the accepted one of the call's server: who sets it
	// has compared them (G4). What is known of the tools of a server of that name
	// then counts as known of this one.
	Pinned bool
	// Strict says that the request forces a call of the tool, or has the provider keep its
	// arguments to the schema: what frameworks do with a tool that is the form of an answer.
	Strict bool
}

// MaxToolName is the longest legal tool name in bytes (G1).
const MaxToolName = 128

// ValidToolName reports whether a name has the only form that the gate knows:
// 1 to 128 characters of A-Z a-z 0-9 _ . : - (G1). Any other name is an
// unknown tool.
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

// End says how the argument text of a call ended.
type End uint8

// The zero End is Failed: a call whose end nobody reported is not complete.
const (
	Failed    End = iota // the transport or upstream failed
	Ended                // a normal end was signalled
	Truncated            // the stream was cut: length, filter, end of input
	Cancelled            // the exchange was given up
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
