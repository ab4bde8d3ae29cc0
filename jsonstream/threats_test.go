package jsonstream_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// refusal is a text with its expected error, counted by hand.
type refusal struct {
	name, text string
	code       stopgate.Code
	offset     int64
	pointer    string
}

const (
	malformed = stopgate.CodeMalformedArguments
	duplicate = stopgate.CodeDuplicateKey
	trailing  = stopgate.CodeTrailingData
	truncated = stopgate.CodeTruncatedArguments
	limit     = stopgate.CodeLimitExceeded
	nonObject = stopgate.CodeNonObjectRoot
)

func checkRefusals(t *testing.T, o jsonstream.Options, tests []refusal) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := everyWay(t, tt.text, o)
			if got.code != tt.code || got.at != tt.offset || got.end != tt.offset {
				t.Errorf("%.100q: %s at %d (consumed %d), want %s at %d", tt.text, got.code, got.at, got.end, tt.code, tt.offset)
			}
			p := jsonstream.NewParser(ignore{}, o)
			p.Feed([]byte(tt.text))
			if err := p.Close().(*jsonstream.Error); err.Pointer != tt.pointer {
				t.Errorf("%.100q: pointer %q, want %q", tt.text, err.Pointer, tt.pointer)
			}
		})
	}
}

// Proves A1, A2, A3, I7: a duplicate is detected at the byte that closes the second key, at any
// depth and in any spelling.
func TestDuplicateKeys(t *testing.T) {
	many := `{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,`
	checkRefusals(t, jsonstream.Options{}, []refusal{
		{"A1", `{"path":"src/a","content":"..","path":".env"}`, duplicate, 37, "/path"},
		{"A2", `{"path":"src/a","\u0070ath":".env"}`, duplicate, 27, "/path"},
		{"A2 other way round", `{"\u0070ath":"src/a","path":".env"}`, duplicate, 27, "/path"},
		{"A2 both", `{"\u0070ath":1,"p\u0061th":2}`, duplicate, 26, "/path"},
		{"A3", `{"patterns":[{"paths":["src/a"],"paths":[".env"]}]}`, duplicate, 39, "/patterns/0/paths"},
		{"same value", `{"a":1,"a":1}`, duplicate, 10, "/a"},
		{"empty keys", `{"":1,"":2}`, duplicate, 8, "/"},
		{"with a slash and a tilde", `{"a/b~c":1,"a/b~c":2}`, duplicate, 18, "/a~1b~0c"},
		{"outer key behind an inner object", `{"a":{"a":1},"b":{"a":2},"a":3}`, duplicate, 28, "/a"},
		{"pair in two spellings", `{"😀":1,"\ud83d\ude00":2}`, duplicate, 24, "/😀"},
		{"last of many", many + `"j":1}`, duplicate, int64(len(many)) + 3, "/j"},
		{"first of many", many + `"a":1}`, duplicate, int64(len(many)) + 3, "/a"},
		{"many, escaped", many + `"\u0061":1}`, duplicate, int64(len(many)) + 8, "/a"},
		{"many inside of many", many + `"k":` + many + `"k":0},"k":1}`, duplicate, int64(2*len(many)) + 14, "/k"},
		{"inner one of many inside of many", many + `"k":` + many + `"c":0},"k":1}`, duplicate, int64(2*len(many)) + 7, "/k/c"},
	})
}

// Proves A1: with repeated keys allowed, both members are kept, and nothing else changes.
func TestRepeatedKeys(t *testing.T) {
	o := jsonstream.Options{RepeatedKeys: true, MaxMembers: 12}
	many := `{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0`
	for text, want := range map[string]int{
		`{"a":1,"a":{"b":1,"\u0062":2}}`: 2, `{"a":[{"x":1,"x":2}]}`: 1, many + `,"a":1,"a":2}`: 12, many + `,"\u0061":` + many + `,"b":1},"j":2}`: 12,
	} {
		if got := everyWay(t, text, o); got.err != "" {
			t.Errorf("%s: %s", text, got.err)
		}
		v, err := jsonstream.Parse([]byte(text), o)
		if err != nil || v.Len() != want {
			t.Errorf("%s: %d members, %v", text, v.Len(), err)
		}
	}
	checkRefusals(t, o, []refusal{
		{"one too many", many + `,"a":1,"a":2,"a":3}`, limit, int64(len(many)) + 14, ""},
		{"a fault behind them", `{"a":1,"a":}`, malformed, 12, "/a"},
	})
}

// Proves A7, A8, A9, A10, A24, I7: invalid strings and characters.
func TestInvalidText(t *testing.T) {
	checkRefusals(t, jsonstream.Options{}, []refusal{
		{"A7", `{"path":"src/\ud800a"}`, malformed, 20, "/path"},
		{"A7 at the end of the string", `{"path":"src/\ud800"}`, malformed, 20, "/path"},
		{"A7 before another escape", `"\ud800\n"`, malformed, 9, ""},
		{"A7 before another unit", `"\ud800\u0041"`, malformed, 10, ""},
		{"A7 before another high one", `"\ud800\ud800"`, malformed, 11, ""},
		{"A7 low one alone", `"\udc00"`, malformed, 5, ""},
		{"A7 low one behind a pair", `"\ud83d\ude00\udfff"`, malformed, 17, ""},
		{"A7 in a key", `{"\ud800":1}`, malformed, 9, ""},
		{"A8", "{\"path\":\"src/\xff\"}", malformed, 14, "/path"},
		{"A8 in a key", "{\"a\":[{\"\xff\":1}]}", malformed, 9, "/a/0"},
		{"A8 continuation alone", "\"a\x80\"", malformed, 3, ""},
		{"A8 sequence cut by the quote", "\"a\xe2\x82\"", malformed, 5, ""},
		{"A8 sequence cut by another", "\"a\xe2\xe2\x82\xac\"", malformed, 4, ""},
		{"A8 above U+10FFFF", "\"\xf4\x90\x80\x80\"", malformed, 3, ""},
		{"A8 F5", "\"\xf5\x80\x80\x80\"", malformed, 2, ""},
		{"A8 last byte wrong", "\"\xf0\x9f\x98a\"", malformed, 5, ""},
		{"A9 overlong point", "{\"path\":\"src/\xc0\xae\"}", malformed, 14, "/path"},
		{"A9 overlong C1", "\"\xc1\xbf\"", malformed, 2, ""},
		{"A9 overlong three", "\"\xe0\x80\xaf\"", malformed, 3, ""},
		{"A9 overlong four", "\"\xf0\x80\x80\xaf\"", malformed, 3, ""},
		{"A9 surrogate in UTF-8", "{\"path\":\"\xed\xa0\x80\"}", malformed, 11, "/path"},
		{"A10", "\xef\xbb\xbf{\"path\":\"src/a\"}", malformed, 1, ""},
		{"A10 alone", "\xef\xbb\xbf", malformed, 1, ""},
		{"A10 behind white space", " \xef\xbb\xbf{}", malformed, 2, ""},
		{"A10 UTF-16", "\xff\xfe{\x00}\x00", malformed, 1, ""},
		{"A24", "{\"path\":\"src/a\n\"}", malformed, 15, "/path"},
		{"A24 NUL", "\"\x00\"", malformed, 2, ""},
		{"A24 tab in a key", "{\"a\tb\":1}", malformed, 4, ""},
		{"A24 unit separator", "\"abcdefgh\x1f\"", malformed, 10, ""},
		{"unknown escape", `"\x41"`, malformed, 3, ""},
		{"capital escape", `"\N"`, malformed, 3, ""},
		{"short unicode escape", `"\u00e"`, malformed, 7, ""},
		{"wrong digit", `"\u00g0"`, malformed, 6, ""},
		{"capital U", `"\U0001F600"`, malformed, 3, ""},
		{"escaped line end", "\"\\\n\"", malformed, 3, ""},
	})
}

// Proves A12, A13, A14, A15, A16, I7: incomplete texts, and data after the end.
func TestEndOfText(t *testing.T) {
	checkRefusals(t, jsonstream.Options{}, []refusal{
		{"A12 second value", `{"path":"src/a"} {"path":".env"}`, trailing, 18, ""},
		{"A12 bracket", `{"path":"src/a"}}`, trailing, 17, ""},
		{"A12 comment", `{"path":"src/a"}//x`, trailing, 17, ""},
		{"A12 comma", `{},`, trailing, 3, ""},
		{"A12 letter", `{}x`, trailing, 3, ""},
		{"A12 NUL", "{}\x00", trailing, 3, ""},
		{"A12 byte order mark", "{}\xef\xbb\xbf", trailing, 3, ""},
		{"A12 vertical tab", "{}\v", trailing, 3, ""},
		{"A12 behind a string", `"a""b"`, trailing, 4, ""},
		{"A12 behind a number", `12,`, trailing, 3, ""},
		{"A12 behind a number and a space", `12 3`, trailing, 4, ""},
		{"A12 bracket behind a number", `12]`, trailing, 3, ""},
		{"A12 string behind a name", `true"a"`, trailing, 5, ""},
		{"A12 behind a name and a space", `true false`, trailing, 6, ""},
		{"A13", `{"cmd":"rm -rf /`, truncated, 16, "/cmd"},
		{"A13 in a key", `{"cm`, truncated, 4, ""},
		{"A13 behind a key", `{"cmd"`, truncated, 6, "/cmd"},
		{"A13 behind a colon", `{"cmd":`, truncated, 7, "/cmd"},
		{"A13 behind a value", `{"cmd":"x"`, truncated, 10, ""},
		{"A13 behind a comma", `{"cmd":"x",`, truncated, 11, ""},
		{"A13 object", `{`, truncated, 1, ""},
		{"A13 array", `[[`, truncated, 2, "/0"},
		{"A13 in an element", `[1,[2,3`, truncated, 7, "/1/1"},
		{"A13 behind a comma in an array", `[1,`, truncated, 3, "/1"},
		{"A13 behind a backslash", `"\`, truncated, 2, ""},
		{"A13 in an escape", `"\u00`, truncated, 5, ""},
		{"A13 in a pair", `"\ud83d`, truncated, 7, ""},
		{"A13 in a pair, behind its backslash", `"\ud83d\`, truncated, 8, ""},
		{"A13 in a pair, in its digits", `"\ud83d\ude`, truncated, 11, ""},
		{"A13 in a character", "\"\xf0\x9f\x98", truncated, 4, ""},
		{"A13 minus", `-`, truncated, 1, ""},
		{"A13 point", `1.`, truncated, 2, ""},
		{"A13 exponent", `1e`, truncated, 2, ""},
		{"A13 sign", `1e-`, truncated, 3, ""},
		{"A13 name", `tru`, truncated, 3, ""},
		{"A13 name in an array", `[nul`, truncated, 4, "/0"},
		{"A14 nothing", ``, malformed, 0, ""},
		{"A14 white space", " \n\t\r", malformed, 4, ""},
	})
	for text, empty := range map[string]bool{"": true, " \n": true, "{": false, "x": false, "\xef\xbb\xbf": false} {
		if got := everyWay(t, text, jsonstream.Options{}); got.empty != empty {
			t.Errorf("A14: %q: empty is %t", text, got.empty)
		}
	}
	checkRefusals(t, jsonstream.Options{ObjectRoot: true}, []refusal{
		{"A15 string", `"src/a"`, nonObject, 1, ""},
		{"A15 array", ` [{"path":"src/a"}]`, nonObject, 2, ""},
		{"A15 null", `null`, nonObject, 1, ""},
		{"A15 number", `-1`, nonObject, 1, ""},
		{"A15 true", `true`, nonObject, 1, ""},
		{"A15 false", `false`, nonObject, 1, ""},
		{"A15 digit", `7`, nonObject, 1, ""},
		{"A16", `"{\"path\":\".env\"}"`, nonObject, 1, ""},
		{"A15 not JSON is malformed", `x`, malformed, 1, ""},
		{"A15 array in the object is well", `{"a":[}`, malformed, 7, "/a"},
	})
	if got := everyWay(t, ` {"a":[1,"x",null]} `, jsonstream.Options{ObjectRoot: true}); got.err != "" {
		t.Error(got.err)
	}
}

// Proves A22, A23, I7: lenient forms are refused.
func TestLenientFormsAreRefused(t *testing.T) {
	checkRefusals(t, jsonstream.Options{}, []refusal{
		{"A22 NaN", `{"n":NaN}`, malformed, 6, "/n"},
		{"A22 -Infinity", `{"n":-Infinity}`, malformed, 7, "/n"},
		{"A22 0x1", `{"n":0x1}`, malformed, 7, "/n"},
		{"A22 +1", `{"n":+1}`, malformed, 6, "/n"},
		{"A22 012", `{"n":012}`, malformed, 7, "/n"},
		{"A22 -012", `{"n":-012}`, malformed, 8, "/n"},
		{"A22 root 012", `012`, malformed, 2, ""},
		{"A22 root 0x1", `0x1`, malformed, 2, ""},
		{"A22 .5", `[.5]`, malformed, 2, ""},
		{"A22 second .5", `[1,.5]`, malformed, 4, "/1"},
		{"A22 5.", `[5.]`, malformed, 4, "/0"},
		{"A22 1.e1", `[1.e1]`, malformed, 4, "/0"},
		{"A22 1e", `[1e]`, malformed, 4, "/0"},
		{"A22 1e+", `[1e+]`, malformed, 5, "/0"},
		{"A22 1e+-1", `[1e+-1]`, malformed, 5, "/0"},
		{"A22 1.2.3", `[1.2.3]`, malformed, 5, "/0"},
		{"A22 1e2e3", `[1e2e3]`, malformed, 5, "/0"},
		{"A22 1e2.5", `[1e2.5]`, malformed, 5, "/0"},
		{"A22 --1", `[--1]`, malformed, 3, "/0"},
		{"A22 1_000", `1_000`, malformed, 2, ""},
		{"A22 1-2", `1-2`, malformed, 2, ""},
		{"A22 full-width digit", `[１]`, malformed, 2, ""},
		{"A23 comment", `{"path":"src/a",/*x*/"n":1,}`, malformed, 17, ""},
		{"A23 comma before the end", `{"a":1,}`, malformed, 8, ""},
		{"A23 comma before the end of an array", `[1,]`, malformed, 4, "/1"},
		{"A23 comma alone", `[,]`, malformed, 2, ""},
		{"A23 single quotes", `{'a':1}`, malformed, 2, ""},
		{"A23 single quotes around a value", `{"a":'b'}`, malformed, 6, "/a"},
		{"A23 key without quotes", `{a:1}`, malformed, 2, ""},
		{"A23 number as key", `{1:1}`, malformed, 2, ""},
		{"no colon", `{"a" 1}`, malformed, 6, "/a"},
		{"comma for colon", `{"a",1}`, malformed, 5, "/a"},
		{"two colons", `{"a"::1}`, malformed, 6, "/a"},
		{"no comma", `{"a":1 "b":2}`, malformed, 8, ""},
		{"no comma in an array", `[1 2]`, malformed, 4, ""},
		{"colon in an array", `[1:2]`, malformed, 3, "/0"},
		{"wrong bracket behind a number", `[1}`, malformed, 3, "/0"},
		{"wrong bracket behind a name", `{"a":true]`, malformed, 10, "/a"},
		{"wrong bracket behind a string", `{"a":"b"]`, malformed, 9, ""},
		{"wrong bracket behind an array", `[[]}`, malformed, 4, ""},
		{"wrong bracket at once", `[}`, malformed, 2, ""},
		{"wrong bracket at once in an object", `{]`, malformed, 2, ""},
		{"string behind a number", `[1"a"]`, malformed, 3, "/0"},
		{"member without a value", `{"a":}`, malformed, 6, "/a"},
		{"capital name", `[True]`, malformed, 2, ""},
		{"name goes wrong", `[trUe]`, malformed, 4, "/0"},
		{"name goes on", `[truest]`, malformed, 6, "/0"},
		{"root name goes on", `nullx`, malformed, 5, ""},
		{"undefined", `undefined`, malformed, 1, ""},
		{"form feed", "[\f1]", malformed, 2, ""},
		{"no-break space", "[\u00a01]", malformed, 2, ""},
	})
}

// Proves A17, A18, A21, I7: every limit at the byte that exceeds it, and not one
// byte before.
func TestLimits(t *testing.T) {
	small := jsonstream.Options{MaxDepth: 3, MaxMembers: 2, MaxKey: 4, MaxBytes: 40, MaxExponent: 20}
	checkRefusals(t, small, []refusal{
		{"A17", `[[[[`, limit, 4, "/0/0/0"},
		{"A17 objects", `{"a":[{"b":{}}]}`, limit, 12, "/a/0/b"},
		{"A17 behind others", `[[],[[]],[[[]]]]`, limit, 12, "/2/0/0"},
		{"A18 members", `{"a":1,"b":2,"c":3}`, limit, 14, ""},
		{"A18 members, inner", `{"a":1,"b":{"a":1,"b":2, "c":3}}`, limit, 26, "/b"},
		{"A18 key", `{"abcd":1,"abcde":1}`, limit, 16, ""},
		{"A18 key, character crosses the limit", `{"abcé":1}`, limit, 7, ""},
		{"A18 key, long character and more", `{"a😀bc":1}`, limit, 7, ""},
		{"A18 key, character in the middle", `{"a中bcd":1}`, limit, 7, ""},
		{"A18 key, long character crosses the limit", `{"abc中d":1}`, limit, 8, ""},
		{"A18 key, escape", `{"abcd\u0041bc":1}`, limit, 12, ""},
		{"A18 key, pair", `{"a\ud83d\ude00":1}`, limit, 15, ""},
		{"A18 bytes", `["` + strings.Repeat("x", 40) + `"]`, limit, 41, "/0"},
		{"A18 bytes in a character", `["` + strings.Repeat("x", 37) + `é"]`, limit, 41, "/0"},
		{"A18 bytes of white space", `[1]` + strings.Repeat(" ", 38), limit, 41, ""},
		{"A18 bytes of nothing but white space", strings.Repeat("\n", 41), limit, 41, ""},
		{"A18 a fault behind the limit", `["` + strings.Repeat("x", 38) + "\xff", limit, 41, "/0"},
		{"A18 a fault before the limit", `["` + strings.Repeat("x", 37) + "\xff", malformed, 40, "/0"},
		{"A21", `[1e21]`, limit, 5, "/0"},
		{"A21 negative", `[1e-21]`, limit, 6, "/0"},
		{"A21 with zeros", `[1E+00021]`, limit, 9, "/0"},
		{"A21 root", `1e200`, limit, 5, ""},
		{"A21 beyond int64", `1e99999999999999999999999999`, limit, 4, ""},
		{"A21 of zero", `[0e99]`, limit, 5, "/0"},
	})
	for _, text := range []string{
		`[[[]]]`, `{"a":[{"b":1}]}`, `{"a":1,"b":{"a":1,"b":2}}`, `{"abcd":1}`, `{"abé":1}`, `{"😀":1}`, `{"\u00e9\u00e9":1}`,
		`["` + strings.Repeat("x", 36) + `"]`, `1e20`, `[1e-20,1e00000000020]`, `0.0000000000000000000000001`,
	} {
		if got := everyWay(t, text, small); got.err != "" {
			t.Errorf("%s: %s", text, got.err)
		}
	}
	few := jsonstream.Options{MaxValues: 3}
	checkRefusals(t, few, []refusal{
		{"A18 values", `[1,2,3]`, limit, 6, "/2"},
		{"A18 values of every kind", `{"a":[],"b":{}, "c":0}`, limit, 21, "/c"},
		{"A18 values, strings", `["","x","y"]`, limit, 9, "/2"},
		{"A18 values, names", `[[true,null]]`, limit, 8, "/0/1"},
		{"A18 values, nested", `[[[[`, limit, 4, "/0/0/0"},
		{"A18 a fault in place of a value too many", `[1,2,]`, malformed, 6, "/2"},
	})
	for _, text := range []string{`[1,2]`, `{"a":[],"b":{}}`, `[[[]]]`, `{"a":{"b":""}}`} {
		if got := everyWay(t, text, few); got.err != "" {
			t.Errorf("%s: %s", text, got.err)
		}
	}
	most := "[" + strings.Repeat("0,", 1<<18-2) + "0"
	if _, err := jsonstream.Parse([]byte(most+"]"), jsonstream.Options{}); err != nil {
		t.Errorf("as many values as there may be: %v", err)
	}
	if _, err := jsonstream.Parse([]byte(most+",0]"), jsonstream.Options{}); err == nil || err.(*jsonstream.Error).Offset != int64(len(most)+2) {
		t.Errorf("one value too many: %v", err)
	}
	checkRefusals(t, jsonstream.Options{}, []refusal{
		{"A21 default", `{"n":1e1000001}`, limit, 14, "/n"},
		{"A21 default, negative", `{"n":1e-999999999}`, limit, 15, "/n"},
	})
	if got := everyWay(t, `[1e400,1e1000000,1e-1000000]`, jsonstream.Options{}); got.err != "" {
		t.Error(got.err)
	}
	if got := everyWay(t, `[1e99999999999999999999999999999999]`, anyNumber); got.err != "" {
		t.Error(got.err)
	}
}

// Proves A17, A18: the default limits, and the largest depth.
func TestDefaultLimits(t *testing.T) {
	var members strings.Builder
	for i := range 10_001 {
		members.WriteString(`,"` + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + `":0`)
	}
	key := strings.Repeat("k", 1024)
	for _, tt := range []struct {
		name, text string
		o          jsonstream.Options
		code       stopgate.Code
		offset     int64
	}{
		{"128 deep", strings.Repeat("[", 128) + strings.Repeat("]", 128), jsonstream.Options{}, "", 0},
		{"129 deep", strings.Repeat("[", 129) + strings.Repeat("]", 129), jsonstream.Options{}, limit, 129},
		{"512 deep", strings.Repeat("[", 512) + strings.Repeat("]", 512), jsonstream.Options{MaxDepth: 512}, "", 0},
		{"513 deep with 1000 allowed", strings.Repeat("[", 513), jsonstream.Options{MaxDepth: 1000}, limit, 513},
		{"10,000 members", "{" + members.String()[1:len(members.String())-len(`,"q`+strings.Repeat("x", 384)+`":0`)] + "}", jsonstream.Options{MaxBytes: 64 << 20}, "", 0},
		{"10,001 members", "{" + members.String()[1:] + "}", jsonstream.Options{MaxBytes: 64 << 20}, limit, int64(members.Len()) - 388},
		{"key of 1 KiB", `{"` + key + `":0}`, jsonstream.Options{}, "", 0},
		{"key of 1 KiB and 1", `{"` + key + `k":0}`, jsonstream.Options{}, limit, 1027},
		{"16 MiB", `"` + strings.Repeat("x", 16<<20-2) + `"`, jsonstream.Options{}, "", 0},
		{"16 MiB and 1", `"` + strings.Repeat("x", 16<<20-1) + `"`, jsonstream.Options{}, limit, 16<<20 + 1},
	} {
		p := jsonstream.NewParser(ignore{}, tt.o)
		p.Feed([]byte(tt.text))
		got := describe(p.Close())
		if got.code != tt.code || got.at != tt.offset {
			t.Errorf("%s: %q at %d, want %q at %d", tt.name, got.code, got.at, tt.code, tt.offset)
		}
		var d jsonstream.Document
		if scanned := describe(d.Scan([]byte(tt.text), tt.o)); scanned != got {
			t.Errorf("%s: scanned: %+v, parsed: %+v", tt.name, scanned, got)
		}
	}
}

// Proves A17: memory is O(depth), whatever the length of the text.
func TestMemoryOfDeepAndWideTexts(t *testing.T) {
	for _, unit := range []string{"[", `{"a":[`, `[{"":`} {
		bomb := []byte(strings.Repeat(unit, 100_000))
		p := jsonstream.NewParser(ignore{}, jsonstream.Options{})
		var d jsonstream.Document
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := p.Feed(bomb)
		scanned := d.Scan(bomb, jsonstream.Options{})
		runtime.ReadMemStats(&after)
		if got := describe(err); got.code != limit || got.at > 128*4 {
			t.Errorf("%s: %v", unit, err)
		}
		if scanned.Error() != err.Error() {
			t.Errorf("%s: scanned %v, parsed %v", unit, scanned, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 128<<10 {
			t.Errorf("%s: %d bytes allocated", unit, used)
		}
	}
}
