package external_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/external"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// service is an external policy of a test on a Unix socket.
type service struct {
	t      testing.TB
	Socket string

	mu        sync.Mutex
	questions []map[string]any
}

// serve starts a service. answer gets a question and returns the members of the answer besides
// protocol, id and version.
func serve(t *testing.T, answer func(q map[string]any) map[string]any) *service {
	s := &service{t: t}
	s.handle(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var q map[string]any
		if err := json.Unmarshal(body, &q); err != nil {
			t.Errorf("question: %v\n%s", err, body)
		}
		s.mu.Lock()
		s.questions = append(s.questions, q)
		s.mu.Unlock()
		out := map[string]any{"protocol": 1, "id": q["id"], "version": "v1"}
		for k, v := range answer(q) {
			out[k] = v
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(out)
	})
	return s
}

// handle serves HTTP on the socket.
func (s *service) handle(f http.HandlerFunc) {
	s.Socket = filepath.Join(s.t.TempDir(), "p.sock")
	ln, err := net.Listen("unix", s.Socket)
	if err != nil {
		s.t.Fatal(err)
	}
	server := &http.Server{Handler: f}
	go server.Serve(ln)
	s.t.Cleanup(func() { server.Close() })
}

// asked returns the kinds of the questions so far.
func (s *service) asked() (kinds []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.questions {
		kinds = append(kinds, q["ask"].(string))
	}
	return kinds
}

// table returns a policy file with a table for the service.
func (s *service) table(hooks string) string {
	return fmt.Sprintf("version = 1\n[[external]]\nname = \"ext\"\nurl = \"unix://%s\"\ntimeout = \"500ms\"\nhooks = [%s]\n%s", s.Socket, hooks, tools)
}

// tools permits the tools of the tests, so that the external policy decides.
const tools = `
[tools."*"]
unknown_params = "allow"
uncovered = "allow"
run = [{ mode = "unattended" }]
[[handoffs]]
to = "*"
mode = "unattended"
`

// newGate returns a gate under a policy file.
func newGate(t *testing.T, text string, more ...gate.Option) (*gate.Gate, *ports.Recorder) {
	t.Helper()
	p, found := policy.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	rows := new(ports.Recorder)
	g, err := gate.New(p, append([]gate.Option{
		gate.WithExternals(external.New(external.Options{}).Open), gate.WithRecorder(rows), gate.WithStore(kinds.Memory()), gate.WithDenyMode(gate.DenyToolResult),
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return g, rows
}

// declared is a call of a tool that is declared by the request.
func declared(tool, args string) stopgate.Call {
	return stopgate.Call{
		Tool: stopgate.ToolName(tool), Args: []byte(args), Session: "s", ID: "c",
		Definition: &stopgate.ToolDefinition{Name: stopgate.ToolName(tool), Schema: []byte(`{"type":"object"}`)},
	}
}

func decide(t *testing.T, g *gate.Gate, call stopgate.Call) stopgate.Outcome {
	t.Helper()
	out, err := g.Decide(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
