package diff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// starter is the policy that init writes.
func starter(t testing.TB) string {
	t.Helper()
	pack, ok := packs.Lookup("coding")
	text := string(pack.Text)
	before, rest, head := strings.Cut(text, "[pack]\n")
	_, after, end := strings.Cut(rest, "]\n")
	before2, after2, place := strings.Cut(after, "  { rules = \"own\" },\n")
	if !ok || !head || !end || !place {
		t.Fatal("the pack has another form")
	}
	return before + before2 + after2
}

// starterEdit is a policy that differs from another one in a line.
type starterEdit struct {
	name, old, new string
	silent         bool // it changes no verdict
}

// entryOf is an entry that a list lacks, by the matcher that uses it.
var entryOf = map[string]string{
	"usage_in": "q7more *", "glob_in": "**/q7more.*", "writes_in": "**/q7more.*", "outside_in": "/q7more/**", "host_in": "q7more.example", "pattern_in": "^q7more",
}

// entryFor finds an entry that a list lacks, by the first rule that uses the list. It is a tool
// for the names of a table.
func entryFor(text, list string) (string, bool) {
	if list == "also" {
		return "q7tool", true
	}
	for word, entry := range entryOf {
		if strings.Contains(text, word+" = "+strconv.Quote(list)) {
			return entry, true
		}
	}
	return "", false
}

// oneLineEdits are all edits of one line of a policy: a line that is deleted or added, a list
// entry more, another mode, another reason.
func oneLineEdits(text string) (list []starterEdit) {
	lines := strings.Split(text, "\n")
	with := func(name string, i int, line ...string) *starterEdit {
		edited := append(append(append([]string{}, lines[:i]...), line...), lines[i+1:]...)
		list = append(list, starterEdit{name: fmt.Sprintf("%s line %d: %.60s", name, i+1, lines[i]), old: text, new: strings.Join(edited, "\n")})
		return &list[len(list)-1]
	}
	opened := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		name, rest, assigned := strings.Cut(line, " = [")
		if assigned && rest == "" {
			opened = name
		}
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if strings.HasPrefix(trimmed, "structured_output ") {
			continue // TestDiffOfSettings compares it
		}
		deleted := *with("delete", i)
		list = append(list, starterEdit{name: "write " + strings.TrimPrefix(deleted.name, "delete "), old: deleted.new, new: text})
		switch entry, ok := entryFor(text, strings.TrimSpace(name)); {
		case assigned && rest != "" && ok:
			with("add", i, name+" = ["+strconv.Quote(entry)+", "+rest)
		case opened != "" && strings.ContainsAny(trimmed[:1], "\"'"):
			if entry, ok := entryFor(text, opened); ok {
				with("add", i, line, strconv.Quote(entry)+",")
			}
		}
		for _, mode := range []string{"unattended", "ask", "deny"} {
			for _, other := range []string{"unattended", "ask", "deny"} {
				if was := `mode = "` + mode + `"`; mode != other && strings.Contains(line, was) {
					with(mode+" to "+other, i, strings.Replace(line, was, `mode = "`+other+`"`, 1))
				}
			}
		}
		if strings.Contains(line, `reason = "`) {
			with("reason", i, strings.Replace(line, `reason = "`, `reason = "q7 `, 1)).silent = true
		}
		if trimmed == "]" {
			opened = ""
		}
	}
	return list
}

// telling are parts of lines of which deletions are hard to decide.
var telling = []string{
	"content = {", "edits = {", `"~/go/pkg/mod/**"`, `below = "ignore"`, `writes_in = "disks" },`, `"arch [-[0-9]*]`, `usage_in = "loss"`, `'^tar`, `  "git {push,`, `"uniq [`, `"terraform version`,
}

// find finds the edit of a line that contains a text.
func find(t *testing.T, edits []starterEdit, kind, part string) starterEdit {
	t.Helper()
	at := slices.IndexFunc(edits, func(e starterEdit) bool { return strings.HasPrefix(e.name, kind) && strings.Contains(e.name, part) })
	if at < 0 {
		t.Fatalf("no line has %s", part)
	}
	return edits[at]
}

// mostTime is how much processor time the comparison of the starter with an edit of one line
// may take.
const mostTime = 3 * time.Second

// Proves Q16: edits of one line of the starter are decided. In the long tier these are all such
// edits, and none takes more processor time than it may.
func TestDiffOfTheStarter(t *testing.T) {
	edits := oneLineEdits(starter(t))
	long := os.Getenv("STOPGATE_LONG") != ""
	if !long {
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
		some := edits[:8:8]
		for _, part := range telling {
			some = append(some, find(t, edits, "delete", part))
		}
		some = append(some, find(t, edits, "write", `"/dev/null"`))
		edits = some
	}
	notes, compared := 0, 0
	slowest := time.Duration(0)
	for i := range edits {
		edit := &edits[i]
		start := cpu.Time()
		d, _, _ := diff.Files(policy.Source{Name: "old.toml", Text: []byte(edit.old)}, policy.Source{Name: "new.toml", Text: []byte(edit.new)}, policy.Options{}, nil)
		took := cpu.Time() - start
		if d == nil {
			continue // the edit is a mistake
		}
		compared++
		slowest = max(slowest, took)
		if long && took > mostTime {
			t.Errorf("%s: %v of processor time", edit.name, took)
		}
		if edit.silent && (len(d.Changes) > 0 || !d.Complete) {
			t.Errorf("%s: %d changes, complete %t", edit.name, len(d.Changes), d.Complete)
		}
		for _, open := range d.Open {
			t.Errorf("%s: %s", edit.name, open)
			notes++
		}
	}
	t.Logf("%d compared, %d notes, slowest %v", compared, notes, slowest)
}
