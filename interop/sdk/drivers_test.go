package sdk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// job is one request that a client library makes.
type job struct {
	Job    int    `json:"job"`
	Client string `json:"client"` // chat, responses, messages, compatible
	Base   string `json:"base"`
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	// Next is the model of a second request, which sends the answer back as
	// history with a result for each call; Continued names the response instead.
	Next      string `json:"next,omitempty"`
	Continued bool   `json:"continued,omitempty"`
	// Choices asks for several answers at once.
	Choices int `json:"choices,omitempty"`
}

// answer is what the library showed.
type answer struct {
	Job    int        `json:"job"`
	Text   string     `json:"text"`
	Calls  []toolCall `json:"calls"`
	Seen   []string   `json:"seen"` // names of calls in its events
	Finish string     `json:"finish"`
	Tokens *int       `json:"tokens"` // of the completion
	Next   string     `json:"next"`
	Error  string     `json:"error"`
}

// library does jobs.
type library interface {
	do(t testing.TB, j job) answer
}

// driver is a library in another language: a process that reads jobs.
type driver struct {
	mu      sync.Mutex
	in      io.Writer
	last    int
	waiting map[int]chan answer
	stderr  bytes.Buffer
	ended   chan struct{}
}

func node(t *testing.T, script string) *driver {
	binary := filepath.Join("node_modules", ".bin", "node")
	return start(t, binary, filepath.Join("drivers", script))
}

func python(t *testing.T, script string) *driver {
	return start(t, filepath.Join("..", ".venv", "bin", "python"), filepath.Join("drivers", script))
}

func start(t *testing.T, binary, script string) *driver {
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("%v: run `make deps` in interop", err)
	}
	cmd := exec.Command(binary, script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{in: in, waiting: map[int]chan answer{}, ended: make(chan struct{})}
	cmd.Stderr = &d.stderr
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "LANGSMITH_TRACING=false", "NO_PROXY=127.0.0.1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go d.read(out)
	t.Cleanup(func() {
		in.Close()
		<-d.ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, d.stderr.String())
		}
	})
	return d
}

func (d *driver) read(out io.Reader) {
	defer close(d.ended)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			a.Error = "the driver said " + string(line)
		}
		d.mu.Lock()
		c := d.waiting[a.Job]
		delete(d.waiting, a.Job)
		d.mu.Unlock()
		if c != nil {
			c <- a
		}
	}
}

// do gives the process a job and waits for the answer.
func (d *driver) do(t testing.TB, j job) answer {
	c := make(chan answer, 1)
	d.mu.Lock()
	d.last++
	j.Job = d.last
	d.waiting[j.Job] = c
	line, _ := json.Marshal(j)
	_, err := d.in.Write(append(line, '\n'))
	d.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	select {
	case a := <-c:
		return a
	case <-d.ended:
		t.Fatalf("the driver ended\n%s", d.stderr.String())
	case <-time.After(2 * time.Minute):
		t.Fatal("no answer of the driver within 2 minutes")
	}
	return answer{}
}
