package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/hook/process"
)

// floors are programs that do less than a hook must: what a process costs here, and one
// that writes a row durably.
var floors = map[string]string{
	"hello": `package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
`,
	"row": `package main

import (
	"database/sql"
	"os"

	_ "modernc.org/sqlite"
)

func main() {
	db, err := sql.Open("sqlite", "file:"+os.Args[1]+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err == nil {
		_, err = db.Exec("CREATE TABLE IF NOT EXISTS rows(text TEXT)")
	}
	if err == nil {
		_, err = db.Exec("INSERT INTO rows VALUES(?)", "a call")
	}
	if err != nil {
		panic(err)
	}
}
`,
}

// hookBench is a directory with the programs, and a project with the coding starter.
type hookBench struct {
	dir, state, project string
	env                 []string
	calls               atomic.Int64
}

// goBuild makes a program as make build does, and copies it, as who installs it does. What
// the linker wrote stands in the page cache in small pieces, which every process that maps
// it pays for; what was copied, or read from the disk, does not.
func (h *hookBench) goBuild(b *testing.B, name, source string) {
	linked := filepath.Join(b.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", linked, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(linked)
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, name), program, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func newHookBench(b *testing.B) *hookBench {
	h := &hookBench{dir: b.TempDir()}
	h.goBuild(b, "stopgate", ".")
	h.goBuild(b, process.SmallName, "../"+process.SmallName)
	for name, text := range floors {
		source := filepath.Join(h.dir, name+".go")
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		h.goBuild(b, name, source)
	}
	state, err := os.MkdirTemp("", "sg") // a socket's path is short
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(state) })
	h.state = state
	h.env = append(os.Environ(), "HOME="+h.dir, "XDG_STATE_HOME="+h.state, "XDG_CONFIG_HOME=")
	h.project = filepath.Join(h.dir, "project")
	if err := os.MkdirAll(filepath.Join(h.project, ".git"), 0o755); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"init", h.project}, {"trust", filepath.Join(h.project, "stopgate.toml")}} {
		if out, err := h.command("stopgate", "", args...).CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return h
}

// command is a process, with nothing that takes time once it runs: its environment is made
// and its input waits in a pipe.
func (h *hookBench) command(program, event string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.dir, program), args...)
	cmd.Env = h.env
	if event == "" {
		return cmd
	}
	input, into, err := os.Pipe()
	if err == nil {
		_, err = into.WriteString(strings.ReplaceAll(event, "ID", fmt.Sprint("call", h.calls.Add(1))))
	}
	if err := errors.Join(err, into.Close()); err != nil {
		panic(err)
	}
	cmd.Stdin = input
	return cmd
}

// BenchmarkHook is the whole process, from its start to its end, beside programs that do less
// (p50 <= 12 ms, p99 <= 40 ms):
//
//   - 1: one at a time;
//   - 16: sixteen at once, each of which is followed by another: a machine that never rests;
//   - burst: sixteen are started, all are waited for, and so on, as an agent does that calls
//     sixteen tools in one turn.
//
// Every call is another one, of other arguments.
func BenchmarkHook(b *testing.B) {
	h := newHookBench(b)
	event := func(tool, input string) string {
		return `{"session_id":"s1","cwd":"` + h.project + `","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"ID"}`
	}
	read, command := event("Read", `{"file_path":"`+h.project+`/ID.go"}`), event("Bash", `{"command":"go test -run ID ./... && git status"}`)
	for _, c := range []struct {
		name, program, event string
		args                 []string
	}{
		{"hello", "hello", "", nil},
		{"row", "row", "", []string{filepath.Join(h.dir, "rows.db")}},
		{"version", "stopgate", "", []string{"version"}},
		{"read", process.SmallName, read, []string{"claude-code"}},
		{"command", process.SmallName, command, []string{"claude-code"}},
		{"read-full", "stopgate", read, []string{"hook", "claude-code"}},
		{"command-full", "stopgate", command, []string{"hook", "claude-code"}},
		{"read-warm", process.SmallName, read, []string{"claude-code"}},
		{"command-warm", process.SmallName, command, []string{"claude-code"}},
	} {
		for _, way := range []struct {
			name  string
			at    int
			burst bool
		}{{"1", 1, false}, {"16", 16, false}, {"burst", 16, true}} {
			b.Run(c.name+"/"+way.name, func(b *testing.B) {
				if strings.HasSuffix(c.name, "-warm") {
					defer h.serve(b)()
				}
				h.measure(b, way.at, way.burst, func() *exec.Cmd { return h.command(c.program, c.event, c.args...) })
			})
		}
	}
}

// serve starts a resident; the function ends it, and reports the processor time that it
// used for each call.
func (h *hookBench) serve(b *testing.B) func() {
	resident := h.command(process.SmallName, "", "serve")
	if err := resident.Start(); err != nil {
		b.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); h.command(process.SmallName, "", "serve", "--status").Run() != nil; {
		if time.Now().After(end) {
			b.Fatal("no resident")
		}
	}
	before := h.calls.Load()
	return func() {
		resident.Process.Signal(os.Interrupt)
		if err := resident.Wait(); err != nil {
			b.Error(err)
		}
		used := resident.ProcessState.UserTime() + resident.ProcessState.SystemTime()
		b.ReportMetric(float64(used.Microseconds())/1000/float64(h.calls.Load()-before), "resident-cpu-ms")
	}
}

// measure starts processes, so many at once, and reports how long they took and how much
// processor time they used. The smallest is what a machine at rest would show. A burst is
// over when its last process is; b.N counts processes in any case.
//
// In a burst own-p50 and own-p99 are counted from the moment before each process itself was
// started, by somebody who was about to start no other one: without the time in which this
// program, one after the other, started those before it.
func (h *hookBench) measure(b *testing.B, at int, burst bool, command func() *exec.Cmd) {
	var took, own, used []time.Duration
	var starting sync.Mutex
	var bursts []time.Duration
	for done := 0; done < b.N; {
		n := b.N - done
		if burst {
			n = min(n, at)
		}
		b.StopTimer()
		var mu sync.Mutex
		var workers sync.WaitGroup
		var left atomic.Int64
		left.Store(int64(n))
		ready := make([]*exec.Cmd, min(at, n)) // the first of each worker
		for i := range ready {
			ready[i] = command()
		}
		b.StartTimer()
		began := time.Now()
		for _, cmd := range ready {
			workers.Go(func() {
				for ; left.Add(-1) >= 0; cmd = nil {
					if cmd == nil {
						cmd = command()
					}
					start := time.Now()
					if burst {
						start = began // the agent's: it wanted all of them then
					}
					starting.Lock()
					alone := time.Now()
					err := cmd.Start()
					starting.Unlock()
					if err == nil {
						err = cmd.Wait()
					}
					d, alive := time.Since(start), time.Since(alone)
					if input, ok := cmd.Stdin.(*os.File); ok {
						input.Close()
					}
					mu.Lock()
					took, own, used = append(took, d), append(own, alive), append(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
					if err != nil {
						b.Error(err)
					}
					mu.Unlock()
				}
			})
		}
		workers.Wait()
		bursts = append(bursts, time.Since(began))
		done += n
	}
	report := func(all []time.Duration, percent int, name string) {
		slices.SortFunc(all, cmp.Compare[time.Duration])
		b.ReportMetric(float64(all[(len(all)-1)*percent/100].Microseconds())/1000, name)
	}
	report(took, 50, "p50-ms")
	report(took, 99, "p99-ms")
	report(used, 50, "cpu-ms")
	report(used, 0, "min-cpu-ms")
	if burst {
		report(own, 50, "own-p50-ms")
		report(own, 99, "own-p99-ms")
		report(bursts, 50, "all16-ms")
	}
}

// BenchmarkStart is the processor time that a start costs beyond that of an empty program, which takes
// turns with it: the median of `stopgate version` and of `stopgate-hook --version`, which do nothing else.
func BenchmarkStart(b *testing.B) {
	h := newHookBench(b)
	used := map[string][]time.Duration{}
	for range b.N {
		for _, c := range [][]string{{"hello"}, {"stopgate", "version"}, {process.SmallName, "--version"}} {
			cmd := h.command(c[0], "", c[1:]...)
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			used[c[0]] = append(used[c[0]], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	median := func(program string) float64 {
		slices.Sort(used[program])
		return float64(used[program][b.N/2].Microseconds()) / 1000
	}
	empty := median("hello")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(empty, "empty-ms")
	b.ReportMetric(median("stopgate")-empty, "version-beyond-ms")
	b.ReportMetric(median(process.SmallName)-empty, "hook-beyond-ms")
}
