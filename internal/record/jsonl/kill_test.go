package jsonl_test

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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/record/jsonl"
)

// The test binary is its own child process: with this variable it writes rows to the named log
// until it is killed.
const childEnv = "STOPGATE_JSONL_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(child(path))
	}
	os.Exit(m.Run())
}

// child writes rows from several goroutines and prints the acknowledged ones to stdout, each in one
// write.
func child(path string) int {
	var o jsonl.Options
	if strings.HasSuffix(path, "-rotated.jsonl") {
		o.RotateBytes = 10_000
	}
	rec, err := jsonl.Open(path, o)
	if err != nil {
		fmt.Println("open", err)
		return 1
	}
	start := os.Getpid()
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", start, c, i)
				r := row(id)
				r.Cause = strings.Repeat("x", i%500)
				if err := rec.Record(context.Background(), r); err != nil {
					os.Stdout.WriteString("error " + err.Error() + "\n")
					return
				}
				os.Stdout.WriteString("ack " + id + "\n")
			}
		})
	}
	callers.Wait()
	return 0
}

// start runs the child and returns its output.
func start(t *testing.T, path string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+path)
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

// Proves I22, M34: a process killed at any moment loses no acknowledged row, and the next process
// continues its chain.
func TestKill(t *testing.T) {
	kills := 250
	if long() {
		kills = 10_000
	} else if testing.Short() {
		kills = 25
	}
	dir := t.TempDir()
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	const perFile = 20 // kills of processes that share a log
	rows := 0
	for k := 0; k < kills; k += perFile {
		path := filepath.Join(dir, fmt.Sprintf("audit-%d.jsonl", k))
		if k/perFile%2 == 1 {
			path = filepath.Join(dir, fmt.Sprintf("audit-%d-rotated.jsonl", k))
		}
		acknowledged := map[string]bool{}
		for i := range perFile {
			cmd, out := start(t, path)
			lines := bufio.NewScanner(out)
			kill := func() { time.AfterFunc(time.Duration(rng.IntN(3000))*time.Microsecond, func() { cmd.Process.Kill() }) }
			if rng.IntN(10) == 0 {
				kill() // perhaps while it opens the log
				kill = func() {}
			}
			for first := true; lines.Scan(); first = false {
				if first {
					kill()
				}
				id, ok := strings.CutPrefix(lines.Text(), "ack ")
				if !ok {
					t.Fatalf("seed %d, kill %d: the child says %q", seed, k+i, lines.Text())
				}
				acknowledged[id] = true
			}
			cmd.Wait()
			checkKilled(t, path, acknowledged, fmt.Sprintf("seed %d, kill %d", seed, k+i))
		}
		rows += len(acknowledged)
	}
	t.Logf("seed %d: %d kills, %d rows acknowledged", seed, kills, rows)
	if rows < kills {
		t.Error("the kills hit nothing: the test has gone stale")
	}
}

func checkKilled(t *testing.T, path string, acknowledged map[string]bool, where string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && len(acknowledged) == 0 {
		return
	}
	report, _, all := chain(t, path)
	if report.Rows != report.Head.Seq {
		t.Fatalf("%s: %d rows of %d", where, report.Rows, report.Head.Seq)
	}
	in := map[string]bool{}
	for _, id := range all {
		in[id] = true
	}
	for id := range acknowledged {
		if !in[id] {
			t.Fatalf("%s: acknowledged row %s is lost", where, id)
		}
	}
}

// Proves FM4 against the real kernel: a log at the file size limit fails rows, keeps its chain, and
// continues when the limit is raised.
func TestAFileSizeLimit(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	rec := open(t, path, jsonl.Options{})
	record(t, rec, "A")
	limit := syscall.Rlimit{Cur: uint64(len(read(t, path)) + 100), Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := rec.Record(ctx, row("B"))
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("error %v, want %v", err, syscall.EFBIG)
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	record(t, rec, "C")
	if got := ids(rows(t, read(t, path))); got != "A C" {
		t.Errorf("rows %q", got)
	}
}
