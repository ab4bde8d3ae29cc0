package corpus

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// dayIDs names the calls of the day. It was drawn before the rules that it judges were
// written, and must not be drawn again.
//
//go:embed day.json
var dayIDs []byte

// A Call is one tool call of a Day.
type Call struct {
	ID   string          // where it is in the corpus
	Tool string          // Bash, or the tool of the recorded session
	Args json.RawMessage // as recorded
	Safe *bool           // the label of a command; nil in the recorded session
	// Session is the recorded session, "" for commands.
	Session string
}

// A day of a coding agent has 200 calls: one whole recorded session, and labelled commands,
// four that are safe to one that is not.
const (
	daySize     = 200
	daySafe     = 4
	dayUnsafe   = 1
	daySeed     = 16
	daySessions = 25 // the session has at least this many calls,
	dayMost     = 60 // and at most this many
)

// Day returns the calls that day.json names.
func Day(dir string) ([]Call, error) {
	all, err := drawDay(dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	if err := json.Unmarshal(dayIDs, &ids); err != nil {
		return nil, fmt.Errorf("day.json: %w", err)
	}
	if !slices.Equal(idsOf(all), ids) {
		return nil, fmt.Errorf("day.json names other calls than the seed draws from this corpus")
	}
	return all, nil
}

// drawDay draws the calls of a day. An id is the number of a line and the first bytes of
// its hash.
func drawDay(dir string) ([]Call, error) {
	rng := rand.New(rand.NewPCG(daySeed, daySeed))
	sessions, all, err := recordedSessions(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if n := len(sessions[name]); n >= daySessions && n <= dayMost {
			names = append(names, name)
		}
	}
	day := sessions[names[rng.IntN(len(names))]]
	byLabel, err := labelledCommands(dir, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	left := daySize - len(day)
	for _, want := range []struct {
		safe bool
		n    int
	}{{true, left * daySafe / (daySafe + dayUnsafe)}, {false, left - left*daySafe/(daySafe+dayUnsafe)}} {
		from := byLabel[want.safe]
		rng.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		day = append(day, from[:want.n]...)
	}
	return day, nil
}

// recordedSessions returns the calls of each recorded session, and the sorted names of the sessions.
func recordedSessions(dir string) (sessions map[string][]Call, names []string, err error) {
	recorded, err := numbered(filepath.Join(dir, "toolcalls", "coding-agent.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	sessions = map[string][]Call{}
	for _, l := range recorded {
		var c struct {
			Session, Tool string
			Args          json.RawMessage
		}
		if err := json.Unmarshal(l.text, &c); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", l.id, err)
		}
		sessions[c.Session] = append(sessions[c.Session], Call{ID: "session:" + l.id, Tool: c.Tool, Args: c.Args, Session: c.Session})
	}
	return sessions, slices.Sorted(maps.Keys(sessions)), nil
}

// labelledCommands returns the labelled commands of programs, by their label.
func labelledCommands(dir string, programs func(string) bool) (map[bool][]Call, error) {
	labelled, err := numbered(filepath.Join(dir, "commands", "labelled.jsonl"))
	if err != nil {
		return nil, err
	}
	byLabel := map[bool][]Call{}
	for _, l := range labelled {
		var c struct {
			Command string
			Safe    bool
		}
		if err := json.Unmarshal(l.text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", l.id, err)
		}
		if !programs(program(c.Command)) {
			continue
		}
		args, err := json.Marshal(map[string]string{"command": c.Command})
		if err != nil {
			return nil, err
		}
		byLabel[c.Safe] = append(byLabel[c.Safe], Call{ID: "command:" + l.id, Tool: "Bash", Args: args, Safe: &c.Safe})
	}
	return byLabel, nil
}

type line struct {
	id   string
	text []byte
}

func numbered(path string) ([]line, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []line
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<24)
	for n := 1; sc.Scan(); n++ {
		sum := sha256.Sum256(sc.Bytes())
		all = append(all, line{fmt.Sprintf("%d:%s", n, hex.EncodeToString(sum[:4])), slices.Clone(sc.Bytes())})
	}
	return all, sc.Err()
}
