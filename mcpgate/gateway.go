package mcpgate

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/round"
	"github.com/stopgate/stopgate/session"
)

// Server is one upstream MCP server.
type Server struct {
	// ID names the server in the policy, where its tools are named ID__TOOL. It may be
	// empty if there is only one server; its tools then keep their names.
	ID stopgate.ServerID
	// Identity identifies the server in the pins. Servers with the same identity share
	// their pins.
	Identity string
	// Transport connects to the server, once per client connection and again after a failure.
	Transport Transport
}

// Pins stores the accepted definitions of tools.
type Pins interface {
	// Check reports whether a definition is the accepted one. The first definition of a
	// tool is accepted. definition is canonical JSON.
	Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error)
}

// Settings is the table [mcp] of the configuration.
type Settings struct {
	// DenyAsError returns a denied call as a JSON-RPC error instead of a tool result.
	DenyAsError bool
	// RefuseUnknown refuses methods that the gateway does not know instead of forwarding
	// them.
	RefuseUnknown bool
	// Elicitation lets the user of the client answer approvals through elicitation. The
	// client program could answer without asking its user (S18).
	Elicitation bool
	// ApprovalTimeout limits how long a call waits for an approval. Zero means 50 s,
	// because most clients time out after a minute.
	ApprovalTimeout time.Duration
	// Timeout limits how long a server may take for a request without sending progress.
	// Zero means 10 min.
	Timeout time.Duration
	// ProgressInterval is the interval of progress messages to a client whose call waits
	// for an approval. Zero means 10 s.
	ProgressInterval time.Duration
	// Origins and Hosts are additional accepted values of these HTTP headers.
	Origins, Hosts []string
}

// Policy is the part of a policy that the gateway uses; *policy.Program implements it.
type Policy interface {
	gate.Policy
	// Tools maps every tool name in the policy's tables to the name of its table.
	Tools() map[stopgate.ToolName]stopgate.ToolName
}

// Options configure a [Gateway].
type Options struct {
	Gate    *gate.Gate
	Program func() Policy // returns the current policy
	Servers []Server
	Pins    Pins // nil disables pinning
	// Approver asks the client's user; nil disables this. See [Approver].
	Approver *Approver
	// StateSecret encrypts the state of multi-round requests; it has at least 32 bytes. If
	// nil, a random secret is used, and states are invalid after a restart.
	StateSecret []byte
	Settings    Settings
	Log         *slog.Logger // nil discards logs
	Observer    Observer     // may be nil
	Version     string       // version of stopgate, sent to clients and servers
}

// Gateway connects clients with servers. It is safe for concurrent use.
type Gateway struct {
	gate     *gate.Gate
	program  func() Policy
	servers  []Server
	pins     Pins
	approver *Approver
	sealer   *round.Sealer
	set      Settings
	log      *slog.Logger
	observer Observer
	version  string
	hidden   *hiddenTools
	work     sync.WaitGroup

	mu      sync.Mutex
	clients map[*client]bool // connected clients
}

// ValidServerID reports whether id matches [a-z0-9-]{1,32}. It contains no underscore, so
// the first "__" of a tool name ends it (G3).
func ValidServerID(id stopgate.ServerID) bool {
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return id != "" && len(id) <= 32
}

// New returns a gateway. It starts no server.
func New(o Options) (*Gateway, error) {
	if o.Gate == nil || o.Program == nil {
		return nil, errors.New("mcpgate: Options.Gate and Options.Program are required")
	}
	if len(o.Servers) == 0 {
		return nil, errors.New("mcpgate: no servers are configured")
	}
	seen := map[stopgate.ServerID]bool{}
	for _, s := range o.Servers {
		switch {
		case !canOpen(s.Transport):
			return nil, fmt.Errorf("mcpgate: server %q has no transport: want Command or Remote", s.ID)
		case s.ID == "" && len(o.Servers) == 1:
		case !ValidServerID(s.ID):
			return nil, fmt.Errorf("mcpgate: invalid server name %q: want 1 to 32 of a-z, 0-9 and -", s.ID)
		case seen[s.ID]:
			return nil, fmt.Errorf("mcpgate: duplicate server name %q", s.ID)
		}
		seen[s.ID] = true
	}
	sealer, err := round.NewSealer(o.StateSecret)
	if err != nil {
		return nil, fmt.Errorf("mcpgate: %w", err)
	}
	g := &Gateway{
		gate: o.Gate, program: o.Program, servers: o.Servers, pins: o.Pins, approver: o.Approver, sealer: sealer, clients: map[*client]bool{},
		set: o.Settings, log: o.Log, observer: o.Observer, version: o.Version, hidden: newHiddenTools(),
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.set.ApprovalTimeout <= 0 {
		g.set.ApprovalTimeout = 50 * time.Second
	}
	if g.set.ProgressInterval <= 0 {
		g.set.ProgressInterval = 10 * time.Second
	}
	if g.set.Timeout <= 0 {
		g.set.Timeout = 10 * time.Minute
	}
	return g, nil
}

// PolicyChanged notifies clients that their list of tools may have changed. Clients of the
// revision without sessions read the list again when its TTL expires.
func (g *Gateway) PolicyChanged() {
	g.mu.Lock()
	peers := slices.Collect(maps.Keys(g.clients))
	g.mu.Unlock()
	for _, p := range peers {
		if p.Initialized() && !p.via.Sessionless {
			p.Send(jsonrpc.AppendRequest(nil, "", "notifications/tools/list_changed", nil))
		}
	}
}

// one reports whether there is a single server; names are then forwarded unchanged.
func (g *Gateway) one() bool { return len(g.servers) == 1 }

// call returns the gate's call for a tool of a server.
func (g *Gateway) call(o session.Owner, s *Server, tool stopgate.ToolName, d *stopgate.ToolDefinition) stopgate.Call {
	return NewCall(stopgate.Call{Session: o.Session, Principal: o.Principal, Definition: d}, s.ID, tool)
}

// NewCall completes c as a call of the gateway: of tool, as the server names it.
func NewCall(c stopgate.Call, server stopgate.ServerID, tool stopgate.ToolName) stopgate.Call {
	c.Tool, c.Server, c.Surface, c.Dialect = canonical(server, tool), server, stopgate.SurfaceMCP, dialect
	return c
}

// implementation returns the gateway's name and version.
func (g *Gateway) implementation() []byte {
	var o jsonrpc.Object
	return o.Text("name", "stopgate").Text("version", g.version).End()
}

const dialect = "mcp"

// canonical returns a tool's name in policies (S39).
func canonical(server stopgate.ServerID, tool stopgate.ToolName) stopgate.ToolName {
	if server == "" {
		return tool
	}
	return stopgate.ToolName(server) + "__" + tool
}
