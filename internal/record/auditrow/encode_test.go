package auditrow_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/store/compact"
)

// fill sets every field of a value, so that a new field that is not written is detected. Texts
// contain characters that JSON escapes.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 3, 9, 0, 0, 123456000, time.UTC)))
			return
		}
		if v.Type() == reflect.TypeFor[stopgate.Groups]() {
			groups, _ := stopgate.GroupsOf("<a>&\"é", "b")
			v.Set(reflect.ValueOf(groups))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.String:
		v.SetString("a\"\\\n<é>\x01" + strings.Repeat("x", *n%9))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // a mode
		v.SetUint(1)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(-int64(*n))
	case reflect.Float64:
		v.SetFloat(0.25)
	default:
		panic(v.Kind())
	}
}

// Proves S25: rows are written as encoding/json writes them: with every member, with each single
// one, and with none.
func TestRowsAsEncodingJSON(t *testing.T) {
	n := 0
	var full stopgate.Record
	fill(reflect.ValueOf(&full).Elem(), &n)
	rows := []stopgate.Record{full, {}, {Cause: "\u2028"}, {Cause: "\xff"}}
	for c := range byte(0x80) {
		rows = append(rows, stopgate.Record{Cause: string(rune(c))})
	}
	of := reflect.ValueOf(full)
	for i := range of.NumField() {
		var one stopgate.Record
		reflect.ValueOf(&one).Elem().Field(i).Set(of.Field(i))
		rows = append(rows, one)
	}
	for _, r := range rows {
		body, err := auditrow.Encode("C\"1", &r)
		if err != nil {
			t.Fatal(err)
		}
		r.Seq, r.Chain, r.Prev, r.Hash = 0, "C\"1", "", ""
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(&r); err != nil {
			t.Fatal(err)
		}
		if string(body)+"\n" != want.String() {
			t.Errorf("got  %s\nwant %s", body, want.String())
		}
	}
}

// Proves S25: a time that has no row form is an error.
func TestRowsRefuseTimes(t *testing.T) {
	if body, err := auditrow.Encode("C1", &stopgate.Record{Time: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}); err == nil {
		t.Errorf("got %s", body)
	}
}

// name is the only name of a store, with number 7.
type name string

func (n name) Number(text []byte) (uint64, bool) { return 7, string(n) == string(text) }
func (n name) Text(number uint64) (string, bool) { return string(n), number == 7 }

// restored fails unless a row comes back from its stored form with the line and the hash that it has without it.
func restored(t *testing.T, r *stopgate.Record, seq int64, prev string, names compact.Names) {
	t.Helper()
	body, err := auditrow.Encode("3F0A5C11D2E94B7788AB01CDEF", r)
	if err != nil {
		t.Fatal(err)
	}
	line, hash := body.Seal(nil, seq, prev)
	line = line[:len(line)-1]
	stored := body.Compact(names)
	stored.Follow(prev)
	got := stored.Line(seq, names)
	if !bytes.Equal(got, line) {
		t.Errorf("got  %s\nwant %s", got, line)
	}
	if of, ok := auditrow.HashOf(got); !ok || of != hash {
		t.Errorf("hash %q, want %q", of, hash)
	}
	if again := auditrow.Store(seq, line, names); !bytes.Equal(again, stored) || !bytes.Equal(again.Line(seq, names), line) {
		t.Errorf("a line is stored as %q, a row as %q", again, stored)
	}
	if plain := auditrow.Stored(line); !bytes.Equal(plain.Line(seq, names), line) {
		t.Error("the line of an earlier version is changed")
	}
}

// Proves S25: stored rows come back byte for byte: with every member, with each single one, and with none.
func TestStoredRows(t *testing.T) {
	n := 0
	var full stopgate.Record
	fill(reflect.ValueOf(&full).Elem(), &n)
	rows := []stopgate.Record{full, {}, {Cause: "\u2028"}, {Cause: "\xff"}, {Cause: `"seq":0,`}, {Tool: `","prev":"","hash":""}`}, {Policy: strings.Repeat("ab", 32), ArgsHash: strings.Repeat("ab", 32)}}
	of := reflect.ValueOf(full)
	for i := range of.NumField() {
		var one stopgate.Record
		reflect.ValueOf(&one).Elem().Field(i).Set(of.Field(i))
		rows = append(rows, one)
	}
	for i, r := range rows {
		r.Version = stopgate.RecordVersion
		for _, names := range []compact.Names{nil, name(strings.Repeat("ab", 32)), name("3F0A5C11D2E94B7788AB01CDEF")} {
			restored(t, &r, int64(i+1), "", names)
			restored(t, &r, 1<<62, strings.Repeat("0123456789abcdef", 4), names)
		}
	}
}

// A row that refers to a name is none without the name.
func TestRowWithoutItsName(t *testing.T) {
	policy := name(strings.Repeat("ab", 32))
	body, err := auditrow.Encode("3F0A5C11D2E94B7788AB01CDEF", &stopgate.Record{Version: stopgate.RecordVersion, Policy: string(policy)})
	if err != nil {
		t.Fatal(err)
	}
	stored := body.Compact(policy)
	if len(stored) > len(body.Compact(nil))-30 {
		t.Errorf("%d bytes with a name, %d without", len(stored), len(body.Compact(nil)))
	}
	if line := stored.Line(1, nil); !bytes.Equal(line, stored) {
		t.Errorf("the row is read as %s", line)
	}
	changed := name(strings.Repeat("cd", 32))
	whole, other := stored.Line(1, policy), stored.Line(1, changed)
	was, _ := auditrow.HashOf(whole)
	if now, ok := auditrow.HashOf(other); !ok || now == was {
		t.Errorf("with another name the hash is %q as before", now)
	}
}

// Lines that are not rows are stored as they are.
func TestStoredLinesThatAreNoRows(t *testing.T) {
	for _, line := range []string{"", "{}", `{"v":1,"seq":1,"chain":"C","prev":"","hash":""}`, "x", "\x02", "\x02" + strings.Repeat("a", 40), `{"v":1,"seq":2,` + strings.Repeat("x", 200)} {
		if s := auditrow.Store(1, []byte(line), nil); string(s) != line || string(s.Line(1, nil)) != line {
			t.Errorf("%q is stored as %q and read as %q", line, s, s.Line(1, nil))
		}
	}
}

// Damaged bytes give another line or none, never a panic.
func FuzzStoredLine(f *testing.F) {
	body, err := auditrow.Encode("3F0A5C11D2E94B7788AB01CDEF", &stopgate.Record{Version: 1, Tool: "Read", ArgsHash: strings.Repeat("0a", 32)})
	if err != nil {
		f.Fatal(err)
	}
	names := name(strings.Repeat("0a", 32))
	stored := body.Compact(names)
	f.Add([]byte(stored), int64(1))
	for i := range stored {
		f.Add([]byte(stored[:i]), int64(-1))
	}
	f.Fuzz(func(t *testing.T, stored []byte, seq int64) {
		line := auditrow.Stored(stored).Line(seq, names)
		auditrow.Store(seq, line, names)
		auditrow.HashOf(line)
	})
}
