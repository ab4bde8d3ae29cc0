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
