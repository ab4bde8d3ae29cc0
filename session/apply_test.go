package session_test

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"pgregory.net/rapid"
)

func load(head uint64, keys ...session.Key) session.State {
	var cells []session.Entry
	for _, k := range keys {
		cells = append(cells, session.Entry{Key: k, Cell: new(session.Cell)})
	}
	return session.NewState(head, cells)
}

func apply(t *testing.T, s session.State, facts ...session.Fact) session.State {
	t.Helper()
	next, _, err := s.Append(facts)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

var toolTest = session.Key{Space: session.SpaceTool, Name: "test"}

func released(id string, marks ...session.Mark) session.Fact {
	return session.Fact{
		Kind: session.Released, Proposal: stopgate.ProposalID(id), Tool: "test", CallID: "call_0", At: 1000, ArgsHash: "h", Marks: marks,
	}
}

func ended(kind session.Kind, id string, at int64) session.Fact {
	return session.Fact{Kind: kind, Proposal: stopgate.ProposalID(id), At: at, Observed: true}
}

func keysOf(facts ...session.Fact) []session.Key {
	var keys []session.Key
	for _, f := range facts {
		keys = append(keys, f.Keys()...)
	}
	return keys
}

// Proves TPS-08, TPS-14, S23: a success permits, a failure does not, and a call ends
// once, whatever its call id is.
func TestApplyResults(t *testing.T) {
	permits := session.Mark{Key: toolTest, Permits: true, Opens: true}
	a, b := released("a", permits), released("b", permits)
	s := apply(t, load(7, keysOf(a, b)...), a, b)
	if c, _ := s.Cell(toolTest); len(c.Open) != 2 || len(c.Permits) != 0 {
		t.Fatalf("in flight: %+v", c)
	}
	if c, _ := s.Cell(session.OpenKey("call_0", "test")); len(c.Open) != 2 || c.Open[1].Proposal != "b" {
		t.Fatalf("by call id: %+v", c)
	}
	s = apply(t, s, ended(session.Failed, "a", 2000), ended(session.Succeeded, "b", 3000))
	c, _ := s.Cell(toolTest)
	want := []session.Permit{{Seq: 11, At: 3000, Certain: true, Observed: true}}
	if diff := cmp.Diff(want, c.Permits); diff != "" || len(c.Open) != 0 {
		t.Error(diff, c.Open)
	}
	for _, id := range []string{"a", "b", "never"} {
		before := s
		if _, _, err := s.Append([]session.Fact{ended(session.Succeeded, id, 4000)}); err == nil || s.Head != before.Head {
			t.Errorf("%s ended twice: %v", id, err)
		}
	}
}

// Proves TPS-36, S38: a state is a value; changes to one copy do not show in another, and a
// change to a cell that was not loaded is an error.
func TestStateIsAValue(t *testing.T) {
	f := released("a", session.Mark{Key: toolTest, Counts: true, Permits: true, Opens: true, Step: 10})
	s0 := load(0, f.Keys()...)
	s1 := apply(t, s0, f)
	s2 := apply(t, s1, ended(session.Succeeded, "a", 2000))
	for i, s := range []session.State{s0, s1, s2} {
		c, _ := s.Cell(toolTest)
		if int(c.Count) != min(i, 1) || len(c.Permits) != max(i-1, 0) || s.Head != uint64(i) {
			t.Errorf("state %d: head %d, %+v", i, s.Head, c)
		}
	}
	if _, err := session.Apply(load(0, session.Self), session.Fact{Seq: 1, Kind: session.DataReplaced}); !errors.Is(err, session.ErrNotLoaded) {
		t.Errorf("a cell that was not loaded: %v", err)
	}
	if _, err := session.Apply(s0, session.Fact{Seq: 2, Kind: session.Spoke}); !errors.Is(err, session.ErrOrder) {
		t.Errorf("out of order: %v", err)
	}
	if s0.Has([]session.Key{toolTest, session.DataKey}) {
		t.Error("Has reports a cell that was not loaded")
	}
}

// Proves Q13: a failed call gives its reservation back in the step in which it was counted,
// and no other end does.
func TestTotals(t *testing.T) {
	amount, _ := session.AmountOf(number("12.5"))
	limit := session.Key{Scope: session.OfPrincipal, Space: session.SpaceLimit, Name: "spend"}
	mark := session.Mark{Key: limit, Counts: true, Amount: amount, Step: 100}
	for _, c := range []struct {
		name  string
		mark  func(*session.Mark)
		kind  session.Kind
		count int64
		sum   string
	}{
		{"no result", func(*session.Mark) {}, "", 2, "25"},
		{"succeeded", func(*session.Mark) {}, session.Succeeded, 2, "25"},
		{"finished", func(*session.Mark) {}, session.Finished, 2, "25"},
		{"failed", func(*session.Mark) {}, session.Failed, 1, "12.5"},
		{"withdrawn", func(m *session.Mark) { m.Keeps = true }, session.Withdrawn, 1, "12.5"},
		{"failed and kept", func(m *session.Mark) { m.Keeps = true }, session.Failed, 2, "25"},
		{"failed, reported and distrusted", func(m *session.Mark) { m.Distrusts = true }, session.Failed, 2, "25"},
	} {
		m := mark
		c.mark(&m)
		a, b := released("a", m), released("b", m)
		b.At = 2000
		s := apply(t, load(0, keysOf(a, b)...), a, b)
		if c.kind != "" {
			end := ended(c.kind, "a", 2500)
			end.Observed = false
			s = apply(t, s, end)
		}
		cell, _ := s.Cell(limit)
		if cell.Count != c.count || cell.Sum.String() != c.sum || cell.Steps[0].At != 10 || cell.Steps[0].Count != c.count-1 {
			t.Errorf("%s: %+v", c.name, cell)
		}
	}
}

// Proves FM14: no cell grows without bound.
func TestCellsAreBounded(t *testing.T) {
	m := session.Mark{Key: toolTest, Permits: true, Opens: true, Counts: true, Step: 1}
	s := load(0, toolTest, session.Self)
	for i := range 3 * session.MaxOpen {
		f := released("p"+string(rune('a'+i%20))+big.NewInt(int64(i)).String(), m)
		f.At = int64(i)
		loaded := []session.Entry{}
		for _, k := range f.Keys() {
			c, _ := s.Cell(k)
			loaded = append(loaded, session.Entry{Key: k, Cell: c})
		}
		s = apply(t, session.NewState(s.Head, loaded), f)
		if i%2 == 0 {
			s = apply(t, s, ended(session.Succeeded, string(f.Proposal), int64(i)))
		}
		if i%50 == 0 {
			s = apply(t, s, session.Fact{Kind: session.Restored, To: s.Head - 1})
		}
	}
	c, _ := s.Cell(toolTest)
	self, _ := s.Cell(session.Self)
	if len(c.Permits) > 8 || len(c.Open) > session.MaxOpen || len(c.Steps) > session.Steps+1 || len(self.Condition().Rewinds) > 64 {
		t.Errorf("%d permits, %d open, %d steps", len(c.Permits), len(c.Open), len(c.Steps))
	}
	if c.Count != 3*session.MaxOpen {
		t.Errorf("count %d", c.Count)
	}
}

// A cell and a key are the same after they were written and read.
func TestRoundTrips(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z/~*é.]{0,6}`)
		k := session.Key{
			Scope: session.Scope(rapid.IntRange(0, 1).Draw(t, "scope")),
			Space: session.Space(rapid.IntRange(1, int(session.SpaceSticky)).Draw(t, "space")), Name: word.Draw(t, "name"), Value: word.Draw(t, "value"),
		}
		if got, err := session.ParseKey(k.Text()); err != nil || got != k {
			t.Fatalf("%q: %v %v", k.Text(), got, err)
		}
		f := released("a", session.Mark{Key: k, Permits: true, Opens: true, Counts: true, Step: 60})
		f.Marks[0].Amount, _ = session.AmountOf(number(rapid.StringMatching(`[0-9]{1,12}(\.[0-9]{1,9})?`).Draw(t, "amount")))
		s, _, err := load(0, f.Keys()...).Append([]session.Fact{f, ended(session.Succeeded, "a", 5)})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Entries() {
			got, err := encoding.UnmarshalCell(encoding.MarshalCell(*e.Cell))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*e.Cell, got, cmp.Comparer(func(a, b session.Amount) bool { return a == b })); diff != "" {
				t.Fatal(diff)
			}
		}
	})
	for _, bad := range []string{"", "a", "a/b", "/a/b", "a*/b/c", "word/b/c"} {
		if k, err := session.ParseKey(bad); err == nil {
			t.Errorf("%q is read as %v", bad, k)
		}
	}
	if _, err := encoding.UnmarshalCell([]byte("{")); err == nil {
		t.Error("a truncated cell is read")
	}
	if c, err := encoding.UnmarshalCell(nil); err != nil || c.Count != 0 {
		t.Error("an empty text is not the zero cell")
	}
}

func number(literal string) jsonstream.Decimal {
	trimmed := literal
	for len(trimmed) > 1 && trimmed[0] == '0' && trimmed[1] != '.' {
		trimmed = trimmed[1:]
	}
	d, err := jsonstream.ParseDecimal([]byte(trimmed))
	if err != nil {
		panic(literal)
	}
	return d
}

// Proves I10, TPS-01: sums are exact, never too small, and never wrap around.
func TestAmounts(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1", "12.50": "12.5", "0.000000001": "0.000000001", "0.0000000001": "0.000000001", "1e-300": "0.000000001",
		"1e20": "100000000000000000000", "1e400": "max", "9007199254740993": "9007199254740993", "1.0000000009": "1.000000001",
		"340282366920938463463": "340282366920938463463", "123456789012345678901234567890": "max",
	} {
		if a, ok := session.AmountOf(number(text)); !ok || a.String() != want {
			t.Errorf("%s: %s", text, a)
		}
	}
	if a, _ := session.LimitOf(number("1.0000000009")); a.String() != "1" {
		t.Errorf("a limit is rounded to %s", a)
	}
	for _, of := range []func(jsonstream.Decimal) (session.Amount, bool){session.AmountOf, session.LimitOf} {
		if _, ok := of(number("-1")); ok {
			t.Error("a negative amount")
		}
	}
	most, _ := session.AmountOf(number("1e400"))
	one, _ := session.AmountOf(number("1"))
	if most.Add(one) != most || most.Sub(one) != most || one.Sub(most) != (session.Amount{}) || !one.Sub(one).IsZero() {
		t.Error("a saturated sum changes")
	}
	var a session.Amount
	for _, bad := range []string{"-1", "x", ""} {
		if a.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if a.UnmarshalText([]byte("max")) != nil || a != most {
		t.Error("max is not read")
	}
	property.Check(t, func(t *rapid.T) {
		literal := rapid.StringMatching(`[1-9][0-9]{0,18}(\.[0-9]{0,8}[1-9])?`)
		x, y := literal.Draw(t, "x"), literal.Draw(t, "y")
		a, _ := session.AmountOf(number(x))
		b, _ := session.AmountOf(number(y))
		rx, _ := new(big.Rat).SetString(x)
		ry, _ := new(big.Rat).SetString(y)
		if a.Cmp(b) != rx.Cmp(ry) {
			t.Fatalf("%s and %s compare as %d", x, y, a.Cmp(b))
		}
		sum, _ := new(big.Rat).SetString(a.Add(b).String())
		if sum.Cmp(new(big.Rat).Add(rx, ry)) != 0 || a.Add(b).Sub(b) != a {
			t.Fatalf("%s + %s = %s", x, y, a.Add(b))
		}
	})
}

// Proves S15, H7: a restore takes back a span of positions; overlapping spans are merged, and
// none is dropped.
func TestRewinds(t *testing.T) {
	s := load(10, session.Self)
	s = apply(t, s, session.Fact{Kind: session.Restored, To: 8}, session.Fact{Kind: session.Spoke},
		session.Fact{Kind: session.Spoke}, session.Fact{Kind: session.Restored, To: 13}, session.Fact{Kind: session.Snapshot})
	c, _ := s.Cell(session.Self)
	want := session.Condition{Rewinds: []session.Span{{After: 8, To: 11}, {After: 13, To: 14}}, Snapshots: 1, Restored: 2, Spoke: 13}
	if diff := cmp.Diff(want, c.Condition()); diff != "" {
		t.Error(diff)
	}
	s = apply(t, s, session.Fact{Kind: session.Restored, To: 9})
	c, _ = s.Cell(session.Self)
	if diff := cmp.Diff([]session.Span{{After: 8, To: 16}}, c.Condition().Rewinds); diff != "" {
		t.Error(diff)
	}
}

// Proves S15, H7: after many restores, facts that any of them took back do not count, and
// later facts do.
func TestManyRewinds(t *testing.T) {
	s := load(10, session.Self)
	var taken []uint64
	for range 200 {
		s = apply(t, s, session.Fact{Kind: session.Spoke}, session.Fact{Kind: session.Spoke}, session.Fact{Kind: session.Restored, To: s.Head + 1})
		taken = append(taken, s.Head-1)
	}
	s = apply(t, s, session.Fact{Kind: session.Spoke})
	view := session.View{State: s, Horizon: s.Head}
	for _, at := range taken {
		if view.InForce(session.Permit{Seq: at}, 0) {
			t.Errorf("the fact at %d counts again", at)
		}
	}
	if !view.InForce(session.Permit{Seq: s.Head}, 0) {
		t.Error("a fact after the last restore does not count")
	}
	if view.InForce(session.Permit{Seq: s.Head}, s.Head+1) || view.InForce(session.Permit{Seq: s.Head + 1}, 0) {
		t.Error("a fact that was invalidated, or is newer than the horizon, counts")
	}
}

// Proves H5: a client cannot report the result of a withdrawn call, but that of a call that
// ended; the number of calls of one id is bounded.
func TestCallsOfAnID(t *testing.T) {
	id := session.Key{Space: session.SpaceCallID, Name: "test", Value: "call_0"}
	calls := func(kind session.Kind, n int) *session.Cell {
		keys := []session.Key{session.Self}
		var facts []session.Fact
		for i := range n {
			f := released(strconv.Itoa(i))
			keys = append(keys, f.Keys()...)
			facts = append(facts, f, ended(kind, strconv.Itoa(i), 1001))
		}
		slices.SortFunc(keys, func(a, b session.Key) int { return strings.Compare(a.Text(), b.Text()) })
		cell, _ := apply(t, load(0, slices.Compact(keys)...), facts...).Cell(id)
		return cell
	}
	if c := calls(session.Withdrawn, 1); len(c.Open)+len(c.Past) != 0 {
		t.Errorf("%+v", c)
	}
	if c := calls(session.Succeeded, 1); len(c.Open) != 0 || len(c.Past) != 1 {
		t.Errorf("%+v", c)
	}
	if c := calls(session.Succeeded, 100); len(c.Past) != 64 || c.Past[63].Proposal != "99" {
		t.Errorf("%d calls of one id are kept", len(c.Past))
	}
}

// Proves H12: two values never share a cell, even if one is equal to the stored form of the
// other; an unknown space is an error.
func TestKeysOfValues(t *testing.T) {
	long := strings.Repeat("v", 1000)
	seen := map[string]string{}
	for _, text := range []string{"", "a", "A", long, long + "v", session.ValueOf(long), session.ValueOf(session.ValueOf(long)), "sha256:", long[:200], long[:201]} {
		value := session.ValueOf(text)
		if other, ok := seen[value]; ok {
			t.Errorf("%.80q and %.80q have one value", text, other)
		}
		if seen[value] = text; len(value) > 200 {
			t.Errorf("the value of %d bytes has %d", len(text), len(value))
		}
	}
	for word, want := range map[string]bool{"self": true, "limit": true, "Self": false, "nowhere": false} {
		var s session.Space
		if err := s.UnmarshalText([]byte(word)); (err == nil) != want {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// Proves S28, FM16: denials in a row are counted until a release, a message of the user or a
// reconciliation.
func TestDenialsInARow(t *testing.T) {
	denied := func(hash string) session.Fact { return session.Fact{Kind: session.Denied, ArgsHash: hash, Code: "x"} }
	ok := released("a")
	s := apply(t, load(0, append(ok.Keys(), session.Key{Space: session.SpaceSticky, Value: "h"})...), denied("a"), denied("a"), denied("b"), denied("b"), denied(""), denied(""))
	check := func(step string, denials, same int, degraded bool) {
		t.Helper()
		c, _ := s.Cell(session.Self)
		if now := c.Condition(); now.Denials != denials || now.Same != same || now.Degraded != degraded {
			t.Errorf("%s: %+v", step, now)
		}
	}
	check("denied", 6, 1, false)
	s = apply(t, s, session.Fact{Kind: session.Spoke})
	check("the user spoke", 0, 0, false)
	sticky := denied("a")
	sticky.Key = session.Key{Space: session.SpaceSticky, Value: "h"}
	s = apply(t, s, sticky)
	if c, _ := s.Cell(sticky.Key); c.Text != "x" || c.Seq != s.Head {
		t.Errorf("sticky: %+v", c)
	}
	check("denied", 1, 1, false)
	s = apply(t, s, ok, session.Fact{Kind: session.Degraded})
	check("allowed and degraded", 0, 0, true)
	s = apply(t, s, denied("a"), session.Fact{Kind: session.Reconciled})
	check("reconciled", 0, 0, false)
}

// Proves H1: a store drops zero cells and keeps a cell with any field.
func TestZeroCells(t *testing.T) {
	if !new(session.Cell).IsZero() {
		t.Error("the zero cell is not zero")
	}
	one, err := jsonstream.ParseDecimal([]byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	sum, _ := session.AmountOf(one)
	for name, c := range map[string]session.Cell{
		"permits": {Permits: make([]session.Permit, 1)}, "broken": {Broken: 1}, "count": {Count: 1}, "sum": {Sum: sum},
		"steps": {Steps: make([]session.Step, 1)}, "open": {Open: make([]session.Open, 1)}, "past": {Past: make([]session.Open, 1)},
		"back": {Refunds: make([]session.Refund, 1)}, "lost": {Lost: 1}, "text": {Text: "x"}, "was": {Was: new(session.Was)},
		"seq": {Seq: 1}, "at": {At: 1}, "call": {Call: session.Issued{Fact: new(session.Fact)}}, "self": {Self: new(session.Condition)},
	} {
		if c.IsZero() {
			t.Errorf("a cell with only %s counts as zero", name)
		}
	}
}
