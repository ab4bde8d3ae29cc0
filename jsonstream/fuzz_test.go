package jsonstream_test

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stopgate/stopgate/jsonstream"
)

// seeds are texts for every branch of the grammar.
var seeds = []string{
	``, ` `, `{}`, `[]`, `""`, `0`, `-0.0e-0`, `true`, `false`, `null`, `{"a":[1,2.5,-3e7,{"b":"c"}],"d":null}`, `{"a":1,"a":2}`,
	`{"a":1,"\u0061":2}`, `"\ud83d\ude00 \" \\ \/ \b\f\n\r\t"`, `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xae\"",
	"\"é中😀\"", "\"\x00\"", "\"\x1f\"", "\xef\xbb\xbf{}", `{}x`, `{} {}`, `1x`, `1 2`, `012`, `1.`, `1e`, `+1`, `NaN`, `[1,]`, `{"a":1,}`, `[1}`, `nul`, `nullx`,
	`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":{"a":0,"b":0},"a":0}`, `1e99999999999999999999`, `[[[[[[[[[[[[]]]]]]]]]]]]`, `"abcdefghijklmnop\n"`,
	"{\"path\":\"src/a\",/*x*/\"n\":1,}", `{'a':1}`, "{\"a\":\n\t[ true , false ] }\r\n", `"\u2028\u0000\u007f"`,
}

// FuzzParser compares a parse in random chunks with jsontext, encoding/json and
// two lenient readers.
//
// Proves I2, I7, I8, F043-09, F043-10.
func FuzzParser(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint64(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		text := string(data)
		want := push(t, text, generous)
		if want.code == limit {
			t.Skip("deeper than jsontext minds")
		}
		if valid := jsontext.Value(data).IsValid(); valid != (want.err == "") {
			t.Fatalf("%q: jsontext accepts: %t; we say: %q", data, valid, want.err)
		}
		if _, err := stdlib(data); err != nil && want.err == "" {
			t.Fatalf("%q: encoding/json says %v", data, err)
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			var cuts []int
			for range rnd.IntN(8) {
				cuts = append(cuts, rnd.IntN(len(text)+1))
			}
			slices.Sort(cuts)
			if got := push(t, text, generous, cuts...); got != want {
				t.Fatalf("%q cut at %v:\n%+v\nin one piece:\n%+v", data, cuts, got, want)
			}
		}
		if got := push(t, text, generous, byteByByte(text)...); got != want {
			t.Fatalf("%q byte by byte:\n%+v\nin one piece:\n%+v", data, got, want)
		}
		if want.err == "" {
			checkAccepted(t, data)
		} else if want.code != truncated && !want.empty {
			checkFirstWrongByte(t, text, want.at)
		}
	})
}

// checkAccepted checks the value of an accepted text and of its canonical text.
func checkAccepted(t *testing.T, data []byte) {
	var a jsonstream.Aggregator
	p := jsonstream.NewParser(&a, generous)
	for i := range data {
		p.Feed(data[i : i+1])
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	want := tokensOf(t, data)
	if got := tokens(a.Document().Root()); !slices.Equal(got, want) {
		t.Fatalf("%q: value %q, want %q", data, got, want)
	}
	ours := a.Bytes()
	if got := tokensOf(t, ours); !slices.Equal(got, want) {
		t.Fatalf("%q: we write %q", data, ours)
	}
	judged := goValue(a.Document().Root())
	for name, read := range map[string]func() (any, error){
		"encoding/json": func() (any, error) { return stdlib(ours) },
		"first wins":    func() (any, error) { return readLenient(string(ours), true) },
		"last wins":     func() (any, error) { return readLenient(string(ours), false) },
	} {
		if got, err := read(); err != nil || !reflect.DeepEqual(got, judged) {
			t.Fatalf("%q: we write %q, %s reads %#v, %v; judged %#v", data, ours, name, got, err, judged)
		}
	}
	again, err := jsonstream.Parse(ours, generous)
	if err != nil || !slices.Equal(tokens(again), want) {
		t.Fatalf("%q: we write %q and read %v", data, ours, err)
	}
}

// FuzzScan compares a scan with the parser, under limits that small texts reach.
//
// Proves I7: a text is accepted, or has the same error, with either.
func FuzzScan(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, limits uint8) {
		o := generous
		if limits&1 != 0 {
			o = jsonstream.Options{MaxDepth: 1 + int(limits>>6), MaxMembers: 1 + int(limits>>5&1)*9, MaxKey: 1 + int(limits>>4&1)*4, MaxValues: 2 + int(limits>>2&1)*30,
				MaxBytes: 5 + int64(limits>>3&1)*100, MaxExponent: 1 + int64(limits>>2&1)*50, ObjectRoot: limits&2 != 0}
		}
		o.RepeatedKeys = limits&0x12 == 0x10
		var a jsonstream.Aggregator
		p := jsonstream.NewParser(&a, o)
		p.Feed(data)
		want := p.Close()
		var d jsonstream.Document
		d.Scan([]byte(`{"x":[{"y":1}],"y":2}`), o) // to leave state behind
		got := d.Scan(data, o)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q, %+v: scan %v, parser %v", data, o, got, want)
		}
		if got != nil {
			if d.Root().IsValid() || d.Text() != nil {
				t.Fatalf("%q: a refused text has a value", data)
			}
			return
		}
		if scanned, parsed := tokens(d.Root()), tokens(a.Document().Root()); !slices.Equal(scanned, parsed) {
			t.Fatalf("%q: scan %q, aggregator %q", data, scanned, parsed)
		}
		if s, p := jsonstream.AppendCanonical(nil, d.Root()), jsonstream.AppendCanonical(nil, a.Document().Root()); string(s) != string(p) {
			t.Fatalf("%q: canonical %q and %q", data, s, p)
		}
	})
}

// FuzzDecimal compares two numbers with exact rational arithmetic.
//
// Proves I10, A19, A20, A21.
func FuzzDecimal(f *testing.F) {
	for _, s := range [][2]string{
		{"0", "-0"}, {"1", "1.0"}, {"1e2", "100"}, {"9007199254740993", "9007199254740992"}, {"0.1", "1e-1"}, {"-5", "3"}, {"1e-400", "1e400"},
		{"12345678901234567890123", "1234567890123456789012.3e1"}, {"0.000123", "1.23e-4"}, {"7.5", "2.5"}, {"1e300", "7"}, {"99999999999999999999", "3"}, {"", "1"}, {"01", "1."},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		da, ra := checkDecimal(t, a)
		db, rb := checkDecimal(t, b)
		if ra == nil || rb == nil {
			return
		}
		order := ra.Cmp(rb)
		if da.Cmp(db) != order || db.Cmp(da) != -order || da.Equal(db) != (order == 0) || (da == db) != (order == 0) {
			t.Errorf("%s against %s: %d, equal %t; want %d", a, b, da.Cmp(db), da.Equal(db), order)
		}
		multiple := rb.Sign() != 0 && new(big.Rat).Quo(ra, rb).IsInt()
		if len(b) <= 1024 && da.IsMultipleOf(db) != multiple {
			t.Errorf("%s multiple of %s: want %t", a, b, multiple)
		}
	})
}

// checkDecimal checks one literal and returns it, with its exact value if that is small enough.
func checkDecimal(t *testing.T, literal string) (jsonstream.Decimal, *big.Rat) {
	d, err := jsonstream.ParseDecimal([]byte(literal))
	value := jsontext.Value(literal)
	isNumber := value.IsValid() && value.Kind() == '0' && len(literal) == len(value) && literal[0] > ' ' && literal[len(literal)-1] > ' '
	if isNumber != (err == nil) {
		t.Fatalf("%q: %v", literal, err)
	}
	if err != nil {
		return d, nil
	}
	text := d.String()
	again, err := jsonstream.ParseDecimal([]byte(text))
	if err != nil || again != d || again.String() != text || !json.Valid([]byte(text)) {
		t.Fatalf("%q is %q, which is %v, %v", literal, text, again, err)
	}
	if _, err := jsonstream.Parse([]byte(literal), jsonstream.Options{MaxExponent: 2000}); err != nil || len(literal) > 2000 {
		return d, nil
	}
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		t.Fatalf("%q: big.Rat does not read it", literal)
	}
	if same, ok := new(big.Rat).SetString(text); !ok || same.Cmp(r) != 0 {
		t.Errorf("%q is written as %q", literal, text)
	}
	if d.IsInteger() != r.IsInt() || d.Sign() != r.Sign() {
		t.Errorf("%q: integer %t, sign %d", literal, d.IsInteger(), d.Sign())
	}
	n, ok := d.Int64()
	if fits := r.IsInt() && r.Num().IsInt64(); ok != fits || fits && n != r.Num().Int64() {
		t.Errorf("%q: as int64 %d, %t", literal, n, ok)
	}
	return d, r
}
