package resident_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/hook/resident"
)

// serves is the environment variable that makes this program a resident, which writes a CPU profile
// to the named file.
const serves = "STOPGATE_TEST_SERVES"

// profiles is the environment variable with the file name for the benchmark.
const profiles = "STOPGATE_TEST_PROFILE"

func TestMain(m *testing.M) {
	if profile, is := os.LookupEnv(serves); is {
		serve(profile)
	}
	if status, is := other(); is {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

func serve(profile string) {
	if profile != "" {
		f, err := os.Create(profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			panic(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := resident.Serve(ctx, resident.Options{Log: os.Stderr})
	pprof.StopCPUProfile()
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

// home is a user with a resident, and a project with the coding starter.
type home struct {
	dir, project string
	resident     *exec.Cmd
	dead         bool // the resident was killed
	calls        atomic.Int64
}

func newHome(b testing.TB) *home {
	dir, err := os.MkdirTemp("", "sg") // the path of a socket must be short
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	h := &home{dir: dir, project: filepath.Join(dir, "project")}
	for _, program := range []string{"stopgate", process.SmallName} {
		if err := os.Link(os.Args[0], filepath.Join(dir, program)); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(h.project, ".git"), 0o700); err != nil {
		b.Fatal(err)
	}
	files, err := config.StarterFor("coding")
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(h.project, f.Name), f.Text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	user := filepath.Join(dir, ".config", "stopgate")
	set, err := config.Discover(config.Where{Dir: h.project, UserDir: user})
	if err == nil {
		err = config.Trust(user, set.Files[0])
	}
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// serve starts the resident, and stops it with the benchmark.
func (h *home) serve(b testing.TB) {
	h.resident = exec.Command(filepath.Join(h.dir, "stopgate"))
	h.resident.Env = append(os.Environ(), "HOME="+h.dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", serves+"="+os.Getenv(profiles))
	var output bytes.Buffer
	h.resident.Stderr = &output
	if err := h.resident.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		h.resident.Process.Signal(os.Interrupt)
		if err := h.resident.Wait(); err != nil && !h.dead {
			b.Errorf("%v\n%s", err, output.String())
		}
	})
	for end := time.Now().Add(30 * time.Second); ; {
		c, err := net.Dial("unix", h.socket())
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			b.Fatalf("no resident: %v\n%s", err, output.String())
		}
	}
}

func (h *home) socket() string {
	return filepath.Join(h.dir, ".local", "state", "stopgate", "hook.sock")
}

// used returns the processor time of the resident so far.
func (h *home) used(b testing.TB) (sum time.Duration) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", h.resident.Process.Pid))
	if err != nil || len(tasks) == 0 {
		b.Skip("this system does not say what a process uses")
	}
	for _, t := range tasks {
		text, err := os.ReadFile(t)
		if err != nil {
			continue
		}
		var ns int64
		fmt.Sscan(string(text), &ns)
		sum += time.Duration(ns)
	}
	return sum
}

// ask asks about one event, as the program of a hook does.
func (h *home) ask(event string) error {
	q := ask.Request{
		Args: []string{"claude-code"}, Dir: h.project, Env: []string{"HOME=" + h.dir},
		Event: []byte(strings.ReplaceAll(event, "ID", fmt.Sprint("call", h.calls.Add(1)))),
	}
	c, err := net.Dial("unix", h.socket())
	if err != nil {
		return err
	}
	defer c.Close()
	q.Nonce = "n"
	if _, err := c.Write(q.Append(nil)); err != nil {
		return err
	}
	text, err := io.ReadAll(c)
	if err != nil {
		return err
	}
	var r ask.Reply
	if _, cut, err := r.Parse(text, q.Nonce); err != nil || cut || r.Kind != ask.Answered || r.Exit != 0 {
		return errors.Join(err, fmt.Errorf("%+v: %s%s", r, r.Out, r.Err))
	}
	return nil
}

// BenchmarkServe measures an event in a resident, without the process of the hook: processor time
// of the resident, and latency. With STOPGATE_TEST_PROFILE=FILE the resident writes a profile.
func BenchmarkServe(b *testing.B) {
	for _, c := range []struct{ name, tool, input string }{
		{"read", "Read", `{"file_path":"PROJECT/ID.go"}`},
		{"command", "Bash", `{"command":"go test ./... -run ID && git status"}`},
	} {
		for _, at := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", c.name, at), func(b *testing.B) {
				h := newHome(b)
				h.serve(b)
				event := strings.ReplaceAll(`{"session_id":"s1","cwd":"PROJECT","hook_event_name":"PreToolUse","tool_name":"`+c.tool+`","tool_input":`+c.input+`,"tool_use_id":"ID"}`, "PROJECT", h.project)
				for range 20 {
					if err := h.ask(event); err != nil {
						b.Fatal(err)
					}
				}
				before := h.used(b)
				took := make([]time.Duration, b.N)
				var next atomic.Int64
				var askers sync.WaitGroup
				b.ResetTimer()
				for range at {
					askers.Go(func() {
						for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
							began := time.Now()
							if err := h.ask(event); err != nil {
								b.Error(err)
							}
							took[n-1] = time.Since(began)
						}
					})
				}
				askers.Wait()
				b.StopTimer()
				b.ReportMetric(float64((h.used(b)-before).Nanoseconds())/1e3/float64(b.N), "resident-µs/op")
				slices.SortFunc(took, cmp.Compare[time.Duration])
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
				b.ReportMetric(float64(took[(len(took)-1)*99/100].Nanoseconds())/1e3, "p99-µs")
			})
		}
	}
}
