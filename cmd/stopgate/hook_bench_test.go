package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// build makes the program as make build does.
func build(program string) *exec.Cmd {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

// BenchmarkHook is the whole process, from its start to its end: one call at a time and
// sixteen at once (DESIGN 8: p50 <= 12 ms, p99 <= 40 ms).
func BenchmarkHook(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "stopgate")
	if out, err := build(program).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	small := filepath.Join(dir, "small.toml")
	if err := os.WriteFile(small, []byte("version = 1\n[tools.Read]\npolicy.run = \"unattended\"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	call := func(tool, input string) string {
		return `{"session_id":"s1","cwd":"` + dir + `","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"t1"}`
	}
	read := call("Read", `{"file_path":"`+dir+`/a.go"}`)
	for _, c := range []struct {
		name  string
		event string
		args  []string
	}{
		{"version", "", []string{"version"}}, // what a process costs here
		{"small", read, []string{"hook", "claude-code", "--policy", small}},
		{"starter", read, []string{"hook", "claude-code"}},
		{"command", call("Bash", `{"command":"go test ./... && git status"}`), []string{"hook", "claude-code"}},
	} {
		for _, at := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", c.name, at), func(b *testing.B) {
				next := make(chan struct{})
				var mu sync.Mutex
				var took []time.Duration
				var workers sync.WaitGroup
				for range at {
					workers.Go(func() {
						for range next {
							cmd := exec.Command(program, c.args...)
							cmd.Stdin = strings.NewReader(c.event)
							cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
							began := time.Now()
							err := cmd.Run()
							d := time.Since(began)
							mu.Lock()
							took = append(took, d)
							if err != nil {
								b.Error(err)
							}
							mu.Unlock()
						}
					})
				}
				for b.Loop() {
					next <- struct{}{}
				}
				close(next)
				workers.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}
