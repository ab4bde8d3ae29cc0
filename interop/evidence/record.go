package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Run is one recorded run of an agent.
type Run struct {
	Suite     string            `json:"suite"`
	Model     string            `json:"model"`
	Task      string            `json:"user_task"`
	Attack    string            `json:"injection_task"` // "" for a benign run
	Kind      string            `json:"kind"`
	Done      bool              `json:"utility"`
	Succeeded bool              `json:"attack_succeeded"`
	Injected  map[string]string `json:"injections"`
	Messages  []Message         `json:"messages"`

	// Design reports whether the run was looked at while the policies were written.
	Design bool `json:"-"`
}

// Message is a message of a run: a text, the calls of the model, or the result of one.
type Message struct {
	Role  string  `json:"role"`
	Text  string  `json:"text"`
	Calls []*Call `json:"calls"`
	ID    string  `json:"id"` // of the call of a result
	Tool  string  `json:"tool"`
	Error *string `json:"error"`
}

// Call is a recorded call.
type Call struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`

	failed bool // its result is an error
}

// Benign reports whether nothing was injected.
func (r *Run) Benign() bool { return r.Kind == "benign" }

func (r *Run) half() string {
	if r.Design {
		return "design"
	}
	return "test"
}

// User is the text of the person.
func (r *Run) User() string {
	for i := range r.Messages {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Text
		}
	}
	return ""
}

// Each calls f with every call of the run.
func (r *Run) Each(f func(*Call)) {
	for i := range r.Messages {
		for _, c := range r.Messages[i].Calls {
			f(c)
		}
	}
}

// load reads the runs of a suite.
func load(dir, suite string) ([]*Run, error) {
	file, err := os.Open(filepath.Join(dir, suite+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	var runs []*Run
	lines := bufio.NewScanner(packed)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r Run
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: run %d: %w", file.Name(), len(runs)+1, err)
		}
		r.link()
		runs = append(runs, &r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	split(runs)
	return runs, nil
}

// link notes which calls failed.
func (r *Run) link() {
	failed := map[string]bool{}
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Role == "tool" && m.Error != nil && *m.Error != "" {
			failed[m.ID] = true
		}
	}
	r.Each(func(c *Call) { c.failed = failed[c.ID] })
}

// split marks the runs of the design half: the half of the user tasks, and the half of the attacks,
// whose hashes are the lowest. An attacked run is of it if its task and its attack both are.
func split(runs []*Run) {
	tasks, attacks := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		tasks[r.Task] = true
		if !r.Benign() {
			attacks[r.Attack] = true
		}
	}
	lower := func(all map[string]bool) map[string]bool {
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		hash := func(name string) string {
			sum := sha256.Sum256([]byte(runs[0].Suite + "/" + name))
			return hex.EncodeToString(sum[:])
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })
		half := map[string]bool{}
		for _, name := range names[:len(names)/2] {
			half[name] = true
		}
		return half
	}
	ours, theirs := lower(tasks), lower(attacks)
	for _, r := range runs {
		r.Design = ours[r.Task] && (r.Benign() || theirs[r.Attack])
	}
}

// canonical is the call as a key: absent, null and empty arguments are the same, and so are orders
// of members.
func (c *Call) canonical() string {
	var args map[string]any
	if json.Unmarshal(c.Args, &args) != nil {
		return c.Tool + " " + string(c.Args)
	}
	for name, v := range args {
		switch x := v.(type) {
		case nil:
			delete(args, name)
		case string:
			if x == "" {
				delete(args, name)
			}
		case []any:
			if len(x) == 0 {
				delete(args, name)
			}
		}
	}
	text, _ := json.Marshal(args) // what was unmarshalled before
	return c.Tool + " " + string(text)
}

// leaves calls f with every string and number of the arguments, and the name of its argument.
func (c *Call) leaves(f func(name, value string)) {
	var args map[string]any
	if json.Unmarshal(c.Args, &args) != nil {
		return
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch x := v.(type) {
		case map[string]any:
			for _, each := range x {
				walk(name, each)
			}
		case []any:
			for _, each := range x {
				walk(name, each)
			}
		case nil, bool:
		default:
			f(name, strings.TrimSpace(fmt.Sprint(x)))
		}
	}
	for name, v := range args {
		walk(name, v)
	}
}
