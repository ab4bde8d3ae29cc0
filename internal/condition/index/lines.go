package index

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
)

// Lines is a set of conditions of one polarity on command lines, which are evaluated command by command.
// A line is looked up by the programs that it names and one word after each: [Lines.Find] returns the
// conditions that may hold for one of its commands, and only these are compiled and evaluated.
type Lines struct {
	restrictive bool
	line        func(*condition.Value) condition.Line
	compile     func(id int32) []*match.Matcher
	members     []line
	always      []int32 // positions of the members without keys
	// hashes are those of the keys, in order; at are the positions of their members.
	hashes []uint64
	at     []int32
	drafts []draft // until Build: the keys
	words  []uint64
}

// line is one condition.
type line struct {
	id       int32
	readings atomic.Pointer[[]*match.Matcher]
}

// draft is a key of a member of which no word is chosen: some of the hashes in words.
type draft struct{ at, first, end int32 }

// maxKeys is the number of keys up to which a member is looked up by them: a condition with many
// literals has a list of them by program.
const maxKeys = 16

// fewLines is the number of members up to which all are evaluated: a look-up of a line takes longer.
const fewLines = 32

// seed is that of all hashes. Members with equal hashes are found together, and evaluated.
var seed = maphash.MakeSeed()

// NewLines returns an empty set. line reads a string as a command line; compile returns the readings
// of a member, of which a restrictive condition needs one to hold, a permissive one all.
func NewLines(restrictive bool, line func(*condition.Value) condition.Line, compile func(id int32) []*match.Matcher) *Lines {
	return &Lines{restrictive: restrictive, line: line, compile: compile}
}

// Add adds a member. Its condition holds only for commands with one of the keys, see
// [condition.Table.CommandKeys]; without keys it may hold for any. Members are added in the order of
// their IDs.
func (x *Lines) Add(id int32, keys []condition.CommandKey) {
	at := int32(len(x.members))
	x.members = append(x.members, line{id: id})
	if len(keys) == 0 || len(keys) > maxKeys {
		x.always = append(x.always, at)
		return
	}
	for i := range keys {
		first, program := int32(len(x.words)), maphash.String(seed, keys[i].Program)
		for _, word := range keys[i].Words {
			x.words = append(x.words, join(program, maphash.String(seed, word)))
		}
		if len(keys[i].Words) == 0 {
			x.words = append(x.words, join(program, 0))
		}
		x.drafts = append(x.drafts, draft{at, first, int32(len(x.words))})
	}
}

// join returns the hash of a program with a word, whose hash is 0 for none.
func join(program, word uint64) uint64 { return program ^ word*0x9e3779b97f4a7c15 }

// Build completes the set. No member can be added afterwards. Each key is that of its word which the
// fewest others have.
func (x *Lines) Build() {
	if len(x.members) <= fewLines {
		x.always, x.drafts, x.words = x.everything(x.always[:0]), nil, nil
		return
	}
	count := make(map[uint64]int32, len(x.words))
	for _, h := range x.words {
		count[h]++
	}
	type entry struct {
		hash uint64
		at   int32
	}
	all := make([]entry, len(x.drafts))
	for i, d := range x.drafts {
		rarest := slices.MinFunc(x.words[d.first:d.end], func(a, b uint64) int { return cmp.Compare(count[a], count[b]) })
		all[i] = entry{rarest, d.at}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	x.hashes, x.at, x.drafts, x.words = make([]uint64, len(all)), make([]int32, len(all)), nil, nil
	for i, e := range all {
		x.hashes[i], x.at[i] = e.hash, e.at
	}
}

// Find appends the positions of the members that may hold for a command of a string to found, in the
// order of their IDs. All others hold for none of them.
func (x *Lines) Find(v *condition.Value, found []int32) []int32 {
	if found = append(found, x.always...); len(x.hashes) == 0 {
		return found
	}
	return x.lookUp(v, found)
}

// lookUp is Find for the members with keys.
func (x *Lines) lookUp(v *condition.Value, found []int32) []int32 {
	complete := x.line(v).EachProgram(func(key []byte, words iter.Seq[[]byte]) {
		program := maphash.Bytes(seed, key)
		found = x.find(join(program, 0), found)
		for word := range words {
			found = x.find(join(program, maphash.Bytes(seed, word)), found)
		}
	})
	if !complete {
		return x.everything(found[:0])
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// everything appends the positions of all members.
func (x *Lines) everything(found []int32) []int32 {
	for at := range x.members {
		found = append(found, int32(at))
	}
	return found
}

// find appends the members of a hash.
func (x *Lines) find(hash uint64, found []int32) []int32 {
	i, ok := slices.BinarySearch(x.hashes, hash)
	for ; ok && i < len(x.hashes) && x.hashes[i] == hash; i++ {
		found = append(found, x.at[i])
	}
	return found
}

// read returns the readings of a member.
func (x *Lines) read(at int32) []*match.Matcher {
	m := &x.members[at]
	if known := m.readings.Load(); known != nil {
		return *known
	}
	readings := x.compile(m.id)
	m.readings.CompareAndSwap(nil, &readings) // of two concurrent results one is kept
	return *m.readings.Load()
}

// Judge evaluates the member at a position for one command of a string, by its index. by is the
// reading that decided.
func (x *Lines) Judge(at int32, v *condition.Value, i int) (id int32, by *match.Matcher, hit bool) {
	id, hit = x.members[at].id, !x.restrictive
	readings := x.read(at)
	if len(readings) == 0 { // its members fit the parameter; this cannot weaken a verdict
		return id, nil, x.restrictive
	}
	for _, by = range readings {
		if hit = by.JudgeCommand(v, i); hit == x.restrictive {
			break
		}
	}
	return id, by, hit
}

// Unknown returns the unknown facts of a string that the members evaluate; see
// [match.Matcher.Unknown]. found are the members that Find returned. Other members know the same as
// any of them: which commands the line has.
func (x *Lines) Unknown(v *condition.Value, found []int32) (unknown condition.Unknown) {
	if !x.restrictive || len(x.members) == 0 {
		return condition.Known
	}
	if len(found) == 0 {
		return x.unknown(0, v)
	}
	for _, at := range found {
		unknown |= x.unknown(at, v)
	}
	return unknown
}

func (x *Lines) unknown(at int32, v *condition.Value) (unknown condition.Unknown) {
	for _, m := range x.read(at) {
		if m.MayBeUnknown() {
			unknown |= m.Unknown(v)
		}
	}
	return unknown
}
