package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
	"github.com/stopgate/stopgate/session"
)

// The test binary is its own child process: with these variables it works on the named store until
// it is done or killed.
const (
	childEnv  = "STOPGATE_STORE_CHILD" // the store
	workEnv   = "STOPGATE_STORE_WORK"  // decide, limit, answer or texts
	childName = "STOPGATE_STORE_NAME"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(child(path, os.Getenv(workEnv), os.Getenv(childName)))
	}
	os.Exit(m.Run())
}

const killPolicy = `version = 1
[tools.t.policy]
run = [ { arg = "/a", const = "no", mode = "deny" }, { mode = "unattended" } ]
[tools.rare.policy]
run = "unattended"
[[session]]
type = "limit"
tools = ["rare"]
max_calls = 7
within = "1d"
`

func program() (*policy.Program, error) {
	p, mistakes := prove.Compile([]policy.Source{{Name: "kill.toml", Text: []byte(killPolicy), Trusted: true}}, policy.Options{})
	return p, mistakes.Err()
}

// child does one kind of work and prints every released call to stdout, in one write after its
// release.
func child(path, work, name string) int {
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{Records: rows.Options{Arguments: audit.KeepFull}})
	if err != nil {
		fmt.Println("open", err)
		return 1
	}
	defer s.Close()
	if work == "answer" {
		e, err := s.ChangeEntry(context.Background(), "q", func(e approve.Entry) (approve.Entry, error) {
			if e.State != approve.Waiting {
				return e, approve.ErrAnswered
			}
			e.State, e.By = approve.Approved, name
			return e, nil
		})
		if err == nil {
			fmt.Println("answered", e.By)
		} else if !errors.Is(err, approve.ErrAnswered) {
			fmt.Println("error", err)
		}
		return 0
	}
	p, err := program()
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	if work == "texts" {
		return addTexts(s, p, name)
	}
	g, err := gate.New(p, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult),
		gate.WithLimits(gate.Limits{Store: 20 * time.Second, Record: 20 * time.Second}))
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	if work == "limit" {
		return decide(g, "rare", name, 3)
	}
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() { decide(g, "t", fmt.Sprint(name, "-", c), 1<<30) })
	}
	callers.Wait()
	return 0
}

// decide proposes calls one after the other and denies every third one.
func decide(g *gate.Gate, tool stopgate.ToolName, name string, n int) int {
	for i := range n {
		args := `{"a":"yes"}`
		if i%3 == 2 && tool == "t" {
			args = `{"a":"no"}`
		}
		out, err := g.Decide(context.Background(), stopgate.Call{
			Tool: tool, Session: "s", Principal: "local", ID: stopgate.CallID(fmt.Sprint(name, "-", i)), Args: []byte(args),
		})
		line := fmt.Sprintf("%s %s %s\n", out.Status, out.Proposal, out.Verdict.Code)
		if err != nil {
			line = "error " + err.Error() + "\n"
		}
		if _, err := os.Stdout.WriteString(line); err != nil {
			return 1
		}
	}
	return 0
}

// start runs a child and returns its output.
func start(t *testing.T, path, work, name string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+path, workEnv+"="+work, childName+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// Proves I22, M34, H19: a process killed at any moment loses no acknowledged decision; no call was
// released without its row and its fact; the chain is intact.
func TestKill(t *testing.T) {
	kills := 50
	if os.Getenv("STOPGATE_LONG") != "" {
		kills = 10_000
	} else if testing.Short() {
		kills = 10
	}
	dir := t.TempDir()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	const perFile = 25 // kills of processes that share a store
	total := 0
	for k := 0; k < kills; k += perFile {
		path := filepath.Join(dir, fmt.Sprintf("s-%d.db", k))
		acknowledged := map[string]string{}
		for i := range min(perFile, kills-k) {
			cmd, out := start(t, path, "decide", fmt.Sprint(k+i))
			lines := bufio.NewScanner(out)
			kill := func() { time.AfterFunc(time.Duration(rng.IntN(6000))*time.Microsecond, func() { cmd.Process.Kill() }) }
			if rng.IntN(10) == 0 {
				kill() // perhaps while it opens the store
				kill = func() {}
			}
			for first := true; lines.Scan(); first = false {
				if first {
					kill()
				}
				words := strings.Fields(lines.Text())
				if len(words) != 3 || words[0] != "allowed" && words[0] != "denied" {
					t.Fatalf("seed %d, kill %d: the child says %q", seed, k+i, lines.Text())
				}
				acknowledged[words[1]] = words[0] + " " + words[2]
			}
			cmd.Wait()
		}
		checkKilled(t, path, acknowledged, fmt.Sprintf("seed %d, kills from %d", seed, k))
		total += len(acknowledged)
	}
	t.Logf("seed %d: %d kills, %d decisions acknowledged", seed, kills, total)
	if total*4 < kills { // a busy machine answers late
		t.Error("the kills hit nothing: the test has gone stale")
	}
}

func checkKilled(t *testing.T, path string, acknowledged map[string]string, where string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && len(acknowledged) == 0 {
		return
	}
	s := open(t, path)
	v := audit.NewVerifier()
	statuses := map[string]string{}
	err := rows.Rows(ctx, s.Database(), 0, rows.Selection{}, func(_ int64, line []byte) bool {
		text := string(line)
		id, status := member(text, "id"), member(text, "status")
		if status != "" { // the row of an event, such as stopped, also has the id of the call
			statuses[id] = status
		}
		if err := v.Row(append(line, '\n')); err != nil {
			t.Errorf("%s: %v", where, err)
			return false
		}
		return true
	})
	if _, end := v.End(); err != nil || end != nil {
		t.Fatalf("%s: %v, %v", where, err, end)
	}
	for id, reasons := range acknowledged {
		if status, _, _ := strings.Cut(reasons, " "); statuses[id] != status {
			t.Fatalf("%s: %s was %s, and its row says %q", where, id, reasons, statuses[id])
		}
	}
	released := map[string]bool{}
	facts, err := s.Facts(ctx, session.Owner{Principal: "local", Session: "s"}, 0, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if f.Kind == session.Released {
			released[string(f.Proposal)] = true
		}
	}
	for id, status := range statuses { // the row and the fact are one transaction
		if (status == "allowed") != released[id] {
			t.Fatalf("%s: the row of %s says %q, its fact %v", where, id, status, released[id])
		}
	}
}

// member reads a string member of a row.
func member(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// Proves I19, H4 across processes: sixteen of them on one store release exactly as many calls as a
// limit allows, and their rows form one chain.
func TestProcessesShareALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	allowed := run(t, path, "limit", "allowed")
	if allowed != 7 {
		t.Errorf("%d calls were let out, want 7", allowed)
	}
	checkKilled(t, path, nil, "limit")
}

// Proves I16, M30 across processes: exactly one of sixteen processes answers a question.
func TestProcessesAnswerOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	if _, err := s.AddEntry(ctx, approvals.Entry("q"), func(approve.Entry) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if answered := run(t, path, "answer", "answered"); answered != 1 {
		t.Errorf("%d processes answered, want 1", answered)
	}
}

// run starts sixteen children and counts their lines that begin with a word.
func run(t *testing.T, path, work, word string) (n int) {
	t.Helper()
	type result struct{ text string }
	results := make(chan result)
	for i := range 16 {
		cmd, out := start(t, path, work, fmt.Sprint("child", i))
		go func() {
			text, _ := io.ReadAll(out)
			cmd.Wait()
			results <- result{string(text)}
		}()
	}
	for range 16 {
		for line := range strings.Lines((<-results).text) {
			switch {
			case strings.HasPrefix(line, word+" "):
				n++
			case strings.HasPrefix(line, "denied "):
			default:
				t.Errorf("a child says %q", line)
			}
		}
	}
	return n
}

// Proves FM4, FM2, S26 against the real kernel: a store on a full disk releases no call, reports
// the cause, keeps its chain and loses no row: the denials and their content are spooled, and
// chained when the store can grow again.
func TestFullDiskDenies(t *testing.T) {
	if os.Getenv("STOPGATE_FULL_DISK") == "" { // the limit is for the whole process
		child := exec.Command(os.Args[0], "-test.run=^TestFullDiskDenies$")
		child.Env = append(os.Environ(), "STOPGATE_FULL_DISK=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "s.db")
	s := open(t, path)
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(p, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult),
		gate.WithLimits(gate.Limits{Store: 20 * time.Second, Record: 20 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	call := func() stopgate.Outcome {
		out, err := g.Decide(ctx, stopgate.Call{Tool: "t", Session: "s", Principal: "local", Args: []byte(`{"a":"yes"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := call(); !out.Allowed() {
		t.Fatalf("before: %v", out.Verdict)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: uint64(wal.Size()) + 512, Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if out := call(); out.Allowed() || out.Args != nil || out.Verdict.Code != stopgate.CodeAuditUnavailable {
			t.Errorf("full disk: %v %v", out.Status, out.Verdict)
		}
	}
	if !g.Health().Degraded() {
		t.Error("health says that all is well")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if out := call(); !out.Allowed() {
		t.Errorf("afterwards: %v", out.Verdict)
	}
	for s.Recorder().Spooled() {
		runtime.Gosched() // until the rows are moved into the chain
	}
	checkKilled(t, path, nil, "full disk")
	var reasons []string
	err = rows.Rows(ctx, s.Database(), 0, rows.Selection{}, func(_ int64, line []byte) bool {
		text := string(line)
		_, count, _ := strings.Cut(text, `"count":`)
		count, _, _ = strings.Cut(count, ",")
		reasons = append(reasons, strings.TrimSpace(member(text, "status")+member(text, "event")+" "+count))
		return true
	})
	slices.Sort(reasons) // spooled rows are written later
	if want := []string{"allowed", "allowed", "denied", "denied", "denied", "release_failed", "release_failed", "release_failed"}; err != nil || !slices.Equal(reasons, want) {
		t.Errorf("%v: the rows say %q, want %q", err, reasons, want)
	}
}
