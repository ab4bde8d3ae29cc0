package jsonstream_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/jsonstream"
)

// suiteRow is a row of testdata/jsontestsuite.txt about a file of JSONTestSuite.
type suiteRow struct {
	file   string
	code   stopgate.Code // "" for accepted
	offset int64
}

func suiteRows(t *testing.T) (rows []suiteRow) {
	table, err := os.ReadFile("testdata/jsontestsuite.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		offset, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		row := suiteRow{file: f[0], offset: offset}
		if f[1] != "accepted" {
			row.code = stopgate.Code(f[1])
		}
		rows = append(rows, row)
	}
	return rows
}

// Proves I7, I2, A17: every file of JSONTestSuite, in every two chunks, has the result of the
// table; jsontext confirms acceptance, value and the byte of an error.
func TestJSONTestSuite(t *testing.T) {
	counts := map[string]int{}
	roots := 0
	for _, row := range suiteRows(t) {
		folder := "test_transform"
		if strings.Contains("yni", row.file[:1]) && row.file[1] == '_' {
			folder = "test_parsing"
		}
		data, err := os.ReadFile(corpus.Path(t, "json", folder, row.file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		got := everyWay(t, text, anyNumber)
		if got.code != row.code || got.end != row.offset {
			t.Errorf("%s: %q at %d, want %q at %d", row.file, got.code, got.end, row.code, row.offset)
		}
		if folder == "test_parsing" {
			counts[row.file[:2]+map[bool]string{true: "accept", false: "reject"}[row.code == ""]]++
		}
		switch {
		case row.code == "":
			checkSuiteValue(t, data)
		case row.code == truncated:
			if judgePrefix(text) != incomplete {
				t.Errorf("%s waits for the end, but is not the beginning of a JSON text", row.file)
			}
		case row.code != limit && !got.empty:
			checkFirstWrongByte(t, text, got.at)
		}
		if row.file[:2] == "y_" && push(t, text, jsonstream.Options{ObjectRoot: true}).code == nonObject {
			roots++
		}
	}
	want := map[string]int{"y_accept": 93, "y_reject": 2, "n_reject": 188, "i_accept": 10, "i_reject": 25}
	for class, n := range want {
		if counts[class] != n {
			t.Errorf("%s: %d files, want %d", class, counts[class], n)
		}
	}
	if len(counts) != len(want) || roots != 83 {
		t.Errorf("classes %v, %d roots that are no object, want 83", counts, roots)
	}
}

func checkSuiteValue(t *testing.T, data []byte) {
	t.Helper()
	v, err := jsonstream.Parse(data, anyNumber)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tokens(v), tokensOf(t, data); !slices.Equal(got, want) {
		t.Errorf("%q: value %q, want %q", data, got, want)
	}
}

// 500 levels are accepted with the largest depth.
func TestJSONTestSuiteDepth(t *testing.T) {
	data, err := os.ReadFile(corpus.Path(t, "json", "test_parsing", "i_structure_500_nested_arrays.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := push(t, string(data), jsonstream.Options{MaxDepth: 512}); got.err != "" {
		t.Error(got.err)
	}
}

// Proves A19, A20: the value of each accepted file of
// test_transform, worked out by hand.
func TestJSONTestSuiteValues(t *testing.T) {
	for file, want := range map[string]string{
		"number_-9223372036854775808.json": `[-9223372036854775808]`,
		"number_-9223372036854775809.json": `[-9223372036854775809]`,
		"number_1.0.json":                  `[1]`,
		"number_1.000000000000000005.json": `[1.000000000000000005]`,
		"number_1000000000000000.json":     `[1000000000000000]`,
		"number_10000000000000000999.json": `[10000000000000000999]`,
		"number_1e-999.json":               `[1e-999]`,
		"number_1e6.json":                  `[1000000]`,
		"number_9223372036854775807.json":  `[9223372036854775807]`,
		"number_9223372036854775808.json":  `[9223372036854775808]`,
		"object_key_nfc_nfd.json":          "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}",
		"object_key_nfd_nfc.json":          "{\"e\u0301\":\"NFD\",\"\u00e9\":\"NFC\"}",
		"string_with_escaped_NULL.json":    `["A\u0000B"]`,
	} {
		data, err := os.ReadFile(corpus.Path(t, "json", "test_transform", file))
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonstream.Parse(data, jsonstream.Options{})
		if got := jsonstream.AppendCanonical(nil, v); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", file, got, err, want)
		}
	}
}
