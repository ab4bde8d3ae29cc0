package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Server is one MCP server behind the gate.
type Server struct {
	// ID names the server in the policy: its tools are ID__TOOL there. It may be empty
	// where there is one server only; its tools then keep their names.
	ID stopgate.ServerID
	// Identity says which server this is, for pins: two servers with one identity are
	// taken for the same.
	Identity string
	// Open connects to the server. It is called for every client that has a connection
	// of its own, and again after a failure.
	Open func(ctx context.Context, e link.Events) (link.Link, error)
}

// Pins remember which definition of a tool is the accepted one (WIRE 8.4).
type Pins interface {
	// Check compares a definition with the accepted one and reports whether it is the
	// same. The first definition of a tool is accepted. definition is canonical JSON.
	Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error)
}

// Settings are the table [mcp].
type Settings struct {
	// DenyAsError answers a denied call with a JSON-RPC error instead of a result that
	// the model can read (WIRE 8.5).
	DenyAsError bool
	// RefuseUnknown answers methods that the gate does not know with "method not found"
	// instead of forwarding them.
	RefuseUnknown bool
	// Elicitation lets the client answer what the policy asks, where it can ask its
	// user: the client's program could answer by itself (DECISIONS S18).
	Elicitation bool
	// Hold is how long a call waits for somebody to answer: 50 s if zero, because most
	// clients give up after a minute.
	Hold time.Duration
	// Timeout is how long a server may take for one request without a word: 10 min if
	// zero.
	Timeout time.Duration
	// Word is how often a client hears, as progress, that its call waits for somebody:
	// 10 s if zero.
	Word time.Duration
	// Origins and Hosts are further values of these HTTP headers that are let in.
	Origins, Hosts []string
}

// Options set up a [Gateway].
type Options struct {
	Gate    *gate.Gate
	Program func() *policy.Program // the policy in force
	Servers []Server
	Pins    Pins // nil: definitions are not pinned
	// Approvals makes the client an approver; see [Approver]. nil: it is none.
	Approver *Approver
	// Seal is the secret of round trips, 32 bytes or more; without it the gate forgets
	// them when it ends.
	Seal     []byte
	Settings Settings
	Log      *slog.Logger // nil for nobody
	Observer Observer     // nil for nobody
	Version  string       // of stopgate, for clients and servers
}

// Gateway stands between clients and servers. It is safe for concurrent use.
type Gateway struct {
	gate     *gate.Gate
	program  func() *policy.Program
	servers  []Server
	pins     Pins
	approver *Approver
	seal     *sealer
	set      Settings
	log      *slog.Logger
	observer Observer
	version  string
	lists    *verdicts
	work     sync.WaitGroup

	mu    sync.Mutex
	peers map[*peer]bool // the clients that are there
}

// ValidServerID reports whether a server can have this name, [a-z0-9-]{1,32}: no
// underscore, so that the first "__" of a tool's name ends it (THREATS G3).
func ValidServerID(id stopgate.ServerID) bool {
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return id != "" && len(id) <= 32
}

// New returns a gateway. Nothing is started yet.
func New(o Options) (*Gateway, error) {
	if o.Gate == nil || o.Program == nil {
		return nil, errors.New("mcpgate: no gate")
	}
	if len(o.Servers) == 0 {
		return nil, errors.New("mcpgate: no server")
	}
	seen := map[stopgate.ServerID]bool{}
	for _, s := range o.Servers {
		switch {
		case s.Open == nil:
			return nil, fmt.Errorf("mcpgate: server %q cannot be opened", s.ID)
		case s.ID == "" && len(o.Servers) == 1:
		case !ValidServerID(s.ID):
			return nil, fmt.Errorf("mcpgate: %q names no server: want 1 to 32 of a-z, 0-9 and -", s.ID)
		case seen[s.ID]:
			return nil, fmt.Errorf("mcpgate: two servers are named %q", s.ID)
		}
		seen[s.ID] = true
	}
	seal, err := newSealer(o.Seal)
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		gate: o.Gate, program: o.Program, servers: o.Servers, pins: o.Pins, approver: o.Approver, seal: seal, peers: map[*peer]bool{},
		set: o.Settings, log: o.Log, observer: o.Observer, version: o.Version, lists: newVerdicts(),
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.set.Hold <= 0 {
		g.set.Hold = 50 * time.Second
	}
	if g.set.Word <= 0 {
		g.set.Word = 10 * time.Second
	}
	if g.set.Timeout <= 0 {
		g.set.Timeout = 10 * time.Minute
	}
	return g, nil
}

// PolicyChanged tells clients that their tools may be others now. Clients of the revision
// without sessions find out when what they know has grown old.
func (g *Gateway) PolicyChanged() {
	g.mu.Lock()
	peers := slices.Collect(maps.Keys(g.peers))
	g.mu.Unlock()
	for _, p := range peers {
		if p.ready("tools/list") && !p.shared {
			p.out(jsonrpc.AppendRequest(nil, "", "notifications/tools/list_changed", nil))
		}
	}
}

// one reports whether names of tools and prompts are forwarded as they are.
func (g *Gateway) one() bool { return len(g.servers) == 1 }

// call is what the gate is told about a call of a server's tool.
func (g *Gateway) call(o session.Owner, s *Server, tool stopgate.ToolName, d *stopgate.ToolDefinition) stopgate.Call {
	return Proposed(stopgate.Call{Session: o.Session, Principal: o.Principal, Definition: d}, s.ID, tool)
}

// Proposed is a call as the gateway hands it to the gate: of a tool as its server calls it.
func Proposed(c stopgate.Call, server stopgate.ServerID, tool stopgate.ToolName) stopgate.Call {
	c.Tool, c.Server, c.Surface, c.Dialect = canonical(server, tool), server, stopgate.SurfaceMCP, dialect
	return c
}

const dialect = "mcp"

// canonical is a tool's name in policies (DECISIONS S39).
func canonical(server stopgate.ServerID, tool stopgate.ToolName) stopgate.ToolName {
	if server == "" {
		return tool
	}
	return stopgate.ToolName(server) + "__" + tool
}
