package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/internal/playground"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// page builds the page once for all tests.
var page = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "playground-page-")
	if err != nil {
		return "", err
	}
	return dir, build("..", dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := page(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built returns the directory with the page.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles the decision core to WebAssembly")
	}
	dir, err := page()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// request is one call of a function of the core.
type request []any

// answers runs requests in the core under Node.
func answers(t *testing.T, requests []request) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js on this machine (apt-get install nodejs)")
	}
	var in bytes.Buffer
	for _, r := range requests {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(node, "testdata/drive.cjs", built(t))
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(requests) {
		t.Fatalf("%d answers to %d requests", len(lines), len(requests))
	}
	return lines
}

// The core in WebAssembly answers with the bytes that the library answers with: to calls of the
// examples, whole, cut and damaged, and to generated policies and calls.
func TestWebAssemblyEqualsLibrary(t *testing.T) {
	var requests []request
	var want []string
	r := rand.New(rand.NewPCG(7, 7))
	both := func(answer any, err error, call ...any) {
		requests = append(requests, call)
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
	}
	all := func(policy string, calls []playground.Call) {
		p, report := playground.Compile([]byte(policy))
		both(report, nil, "compile", []byte(policy))
		for _, c := range calls {
			tool, args, before := []byte(c.Tool), append([]byte{}, c.Args...), append([]byte{}, c.Before...)
			if p == nil {
				both(nil, errors.New("there is no valid policy"), "trace", tool, args, before)
				continue
			}
			trace, err := p.Trace(t.Context(), c)
			both(trace, err, "trace", tool, args, before)
			n, end := r.IntN(len(c.Args)+1), r.IntN(2) == 0
			moment, err := p.At(t.Context(), c, n, end)
			both(moment, err, "at", tool, args, before, n, end)
			moment, err = p.At(t.Context(), c, len(c.Args), true)
			both(moment, err, "at", tool, args, before, len(c.Args), true)
			sent, err := p.Send(t.Context(), c)
			both(sent, err, "send", tool, args, before)
		}
	}
	list, err := readExamples("..")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(list); {
		policy, calls := list[i].Policy, []playground.Call(nil)
		for ; i < len(list) && list[i].Policy == policy; i++ {
			calls = append(calls, damaged(r, playground.Call{Tool: list[i].Tool, Args: []byte(list[i].Args), Before: []byte(list[i].Before)})...)
		}
		all(policy, calls)
	}
	for i := range 40 {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		c := gen.Draw(r)
		var calls []playground.Call
		for range 4 {
			calls = append(calls, playground.Call{Tool: gen.Tool, Args: []byte(c.Document(r))})
		}
		all(c.Files[0].Text, calls)
	}
	all("version = 1\n", []playground.Call{
		{Tool: "x", Args: make([]byte, playground.MaxArgs+1)},
		{Tool: "x", Args: []byte("{}"), Before: []byte(`{"tool":1}`)},
		{Tool: "x", Args: []byte("{}"), Before: make([]byte, playground.MaxBefore+1)},
		{Tool: strings.Repeat("x", playground.MaxTool+1), Args: []byte("{}")},
	})
	got := answers(t, requests)
	for i := range want {
		// Texts have ids of a key that each session draws.
		if got, want := textID.ReplaceAllString(got[i], ""), textID.ReplaceAllString(want[i], ""); got != want {
			t.Fatalf("answer %d, %q:\n got %s\nwant %s", i, requests[i][0], got, want)
		}
	}
	t.Logf("%d answers", len(want))
}

var textID = regexp.MustCompile(`"text":"[0-9a-f]{16}",`)

// damaged returns a call, and it with arguments that were cut or changed.
func damaged(r *rand.Rand, c playground.Call) []playground.Call {
	calls := []playground.Call{c}
	for range 5 {
		args := bytes.Clone(c.Args[:r.IntN(len(c.Args)+1)])
		if r.IntN(2) == 0 {
			args = bytes.Clone(c.Args)
			args[r.IntN(len(args))] = marks[r.IntN(len(marks))]
		}
		calls = append(calls, playground.Call{Tool: c.Tool, Args: args, Before: c.Before})
	}
	return calls
}

// A function of the core refuses what it does not take, and goes on.
func TestWebAssemblyRefuses(t *testing.T) {
	text := []byte("version = 1\n")
	got := answers(t, []request{
		{"trace", text, text, text}, {"compile"}, {"compile", 1}, {"compile", text}, {"at", text, text, text, true, 1}, {"at", text, text, text, -1, true}, {"compile", text},
	})
	for i, want := range []string{
		"there is no valid policy", "want 1 arguments", "a text is a Uint8Array", `"valid":true`, "n is a number", "there is no byte -1", `"valid":true`,
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("answer %d: %s, want %s", i, got[i], want)
		}
	}
}

// marks are the bytes that damage arguments.
const marks = `"\{}x0,: ` + "\x00\xff"
