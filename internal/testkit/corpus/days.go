package corpus

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// daysIDs names the calls of the two days, drawn before the rules that they judge.
//
//go:embed days.json
var daysIDs []byte

// A day has whole recorded sessions, drawn without replacement until they have
// daysRecorded calls, and labelled commands of programs in the half that is not looked at: nine
// that are safe to one that is not, at least daysCommands of them and as many as make
// daySize calls.
const (
	daysSeed     = 22
	daysRecorded = 80
	daysCommands = 60
	daysSafe     = 9 // of ten commands
)

// Unseen reports whether the labelled commands that begin with a program belong to the half that
// rules are judged by. Only tests read that half.
func Unseen(program string) bool {
	sum := sha256.Sum256([]byte(program))
	return sum[0]&1 == 1
}

// Days returns the calls that days.json names: a first day, and a second one with other
// calls.
func Days(dir string) ([2][]Call, error) {
	days, err := drawDays(dir)
	if err != nil {
		return days, err
	}
	var ids [2][]string
	if err := json.Unmarshal(daysIDs, &ids); err != nil {
		return days, fmt.Errorf("days.json: %w", err)
	}
	for i, day := range days {
		if !slices.Equal(idsOf(day), ids[i]) {
			return days, fmt.Errorf("days.json names other calls than the seed draws from this corpus")
		}
	}
	return days, nil
}

func drawDays(dir string) (days [2][]Call, err error) {
	rng := rand.New(rand.NewPCG(daysSeed, daysSeed))
	sessions, names, err := recordedSessions(dir)
	if err != nil {
		return days, err
	}
	byLabel, err := labelledCommands(dir, Unseen)
	if err != nil {
		return days, err
	}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, safe := range []bool{true, false} {
		from := byLabel[safe]
		rng.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	}
	for i := range days {
		for len(days[i]) < daysRecorded && len(names) > 0 {
			days[i] = append(days[i], sessions[names[0]]...)
			names = names[1:]
		}
		n := max(daysCommands, daySize-len(days[i]))
		safe := n * daysSafe / 10
		commands := slices.Concat(byLabel[true][:safe], byLabel[false][:n-safe])
		byLabel[true], byLabel[false] = byLabel[true][safe:], byLabel[false][n-safe:]
		rng.Shuffle(len(commands), func(i, j int) { commands[i], commands[j] = commands[j], commands[i] })
		days[i] = append(days[i], commands...)
	}
	return days, nil
}

func idsOf(calls []Call) (ids []string) {
	for _, c := range calls {
		ids = append(ids, c.ID)
	}
	return ids
}

// program returns the first word of a command.
func program(command string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return word
}
