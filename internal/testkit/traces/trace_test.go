package traces_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// trace is what can be seen of one decision.
type trace struct {
	Status    string           `json:"status"`
	Mode      string           `json:"mode"`
	Layer     stopgate.Layer   `json:"layer"`
	Code      stopgate.Code    `json:"code,omitempty"`
	Text      string           `json:"text,omitempty"`
	DecidedAt *int64           `json:"decided_at"`
	Early     string           `json:"early,omitempty"` // the verdict before the end of the arguments
	Released  string           `json:"released,omitempty"`
	Rows      []map[string]any `json:"rows"`
}

// fleeting are the members of a row that differ from run to run, or that a hash of
// something that is no behaviour makes different.
var fleeting = []string{"seq", "chain", "time", "id", "parent", "prev", "hash", "policy", "definition", "session", "principal", "texts", "turn", "v"}

func rowsOf(t *testing.T, rows []stopgate.Record) (list []map[string]any) {
	t.Helper()
	for _, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var row map[string]any
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		for _, name := range fleeting {
			delete(row, name)
		}
		for _, name := range []string{"args_hash", "released_hash"} {
			if hash, ok := row[name].(string); ok {
				row[name] = hash[:8]
			}
		}
		if a, ok := row["approval"].(map[string]any); ok {
			delete(a, "id")
		}
		list = append(list, row)
	}
	return list
}

// tracer is a gate whose decisions are traced.
type tracer struct {
	gate *gate.Gate
	mu   sync.Mutex
	rows []stopgate.Record // since they were last taken
}

// Record keeps a row.
func (*tracer) Capabilities() gate.Capabilities { return gate.Capabilities{} }

func (c *tracer) Record(_ context.Context, r *stopgate.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, *r)
	return nil
}

// take returns the rows that are new.
func (c *tracer) take(t *testing.T) []map[string]any {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	list := rowsOf(t, c.rows)
	stored(t, c.rows)
	c.rows = c.rows[:0]
	return list
}

// stored fails unless rows come back byte for byte from the form in which stores keep them.
func stored(t *testing.T, rows []stopgate.Record) {
	t.Helper()
	const chain, prev = "3F0A5C11D2E94B7788AB01CDEF", "7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a"
	for i := range rows {
		body, err := auditrow.Encode(chain, &rows[i])
		if err != nil {
			t.Fatal(err)
		}
		line, _ := body.Seal(nil, int64(i+1), prev)
		s := body.Compact(nil)
		s.Follow(prev)
		if got := s.Line(int64(i+1), nil); string(got)+"\n" != string(line) {
			t.Errorf("a row comes back as\n%s, want\n%s", got, line)
		}
	}
}

// patient are limits that a busy machine keeps.
var patient = gate.Limits{Policy: time.Minute, Store: time.Minute, Record: time.Minute}

// newTracer builds a gate that nobody but the answer decides beside.
func newTracer(t *testing.T, sources []policy.Source, o policy.Options, answer ports.Approver) *tracer {
	t.Helper()
	program, mistakes := prove.Compile(sources, o)
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	c := &tracer{}
	options := []gate.Option{gate.WithDenyMode(gate.DenyToolResult), gate.WithRecorder(c), gate.WithStore(mem.New()), gate.WithLimits(patient)}
	if answer != nil {
		options = append(options, gate.WithApprover(answer))
	}
	var err error
	if c.gate, err = gate.New(program, options...); err != nil {
		t.Fatal(err)
	}
	return c
}

// piece is how many bytes of arguments arrive at once.
const piece = 7

// call sends the arguments in pieces and traces what becomes of the call.
func (c *tracer) call(t *testing.T, call stopgate.Call, args string) []byte {
	t.Helper()
	ctx := context.Background()
	call.Principal = "local"
	p, err := c.gate.Open(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	var early string
	for rest := args; len(rest) > 0; {
		n := min(piece, len(rest))
		v := p.Feed([]byte(rest[:n]))
		if rest = rest[n:]; len(rest) > 0 {
			early = v.String()
		}
	}
	p.Close(stopgate.Ended)
	out, err := p.Resolve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v := out.Verdict
	at := v.DecidedAt
	text, err := json.Marshal(trace{
		Status: out.Status.String(), Mode: v.Mode.String(), Layer: v.Layer, Code: v.Code, Text: v.Public, DecidedAt: &at,
		Early: early, Released: string(out.Args), Rows: c.take(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// pack and unpack are the form of large golden files.
func pack(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compare names the first lines that differ and counts all.
func compare(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	differ := 0
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a == b {
			continue
		}
		if differ++; differ <= 5 {
			t.Errorf("line %d\n got %s\nwant %s", i+1, a, b)
		}
	}
	t.Errorf("%d of %d traces differ from the golden file; where that is meant, go test ./internal/testkit/traces -update", differ, len(w)-1)
}
