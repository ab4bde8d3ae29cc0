package jsonstream_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/jsonstream"
)

func decimal(t testing.TB, literal string) jsonstream.Decimal {
	t.Helper()
	d, err := jsonstream.ParseDecimal([]byte(literal))
	if err != nil {
		t.Fatalf("%q: %v", literal, err)
	}
	return d
}

// Proves A20, I10: all spellings of a number have one canonical text.
func TestDecimalCanonical(t *testing.T) {
	for want, literals := range map[string][]string{
		"0":                                 {"0", "-0", "0.0", "0e5", "-0.000e-99", "0E99999999999999999999999"},
		"1":                                 {"1", "1.0", "1e0", "10e-1", "0.1e1", "0.001e+3", "1.000000000000000000000000000000"},
		"-1":                                {"-1", "-1.0", "-0.1e1"},
		"100":                               {"100", "1e2", "1E+2", "1000e-1", "100.00"},
		"120.05":                            {"120.05", "12005e-2", "1.2005e2", "0120.05"[1:]},
		"0.0000001":                         {"0.0000001", "1e-7", "0.1e-6"},
		"1e-8":                              {"0.00000001", "1e-8"},
		"1.5e-8":                            {"0.000000015", "15e-9"},
		"100000000000000000000":             {"1e20", "100000000000000000000"},
		"1e21":                              {"1e21", "1000000000000000000000"},
		"-1.23e400":                         {"-123e398", "-1.2300E400"},
		"9007199254740993":                  {"9007199254740993", "9007199254740993.0", "9.007199254740993e15"},
		"1.2345678901234567890123456789":    {"1.2345678901234567890123456789", "12345678901234567890123456789e-28"},
		"1.2345678901234567890123456789e99": {"1.2345678901234567890123456789e99"},
		"1e99999999999999999":               {"1e99999999999999999", "10e99999999999999998"},
		"1e999999999999999999":              {"1e999999999999999999", "0.1e1000000000000000000"},
		"1e1000000000000000000":             {"1e1000000000000000000", "10e999999999999999999", "0.01e1000000000000000002"},
		"-2.5e-1000000000000000000":         {"-2.5e-1000000000000000000", "-25e-1000000000000000001", "-0.25e-999999999999999999"},
		"1e-999999999999999999":             {"1e-999999999999999999", "10e-1000000000000000000"},
		"7e100000000000000000000000000000":  {"7e100000000000000000000000000000", "70e99999999999999999999999999999", "700e+0099999999999999999999999999998"},
		"7e-99999999999999999999999999999":  {"7e-99999999999999999999999999999", "70e-100000000000000000000000000000", "0.7e-99999999999999999999999999998"},
	} {
		for _, literal := range literals {
			if got := decimal(t, literal); got.String() != want || got != decimal(t, want) {
				t.Errorf("%s is %s, want %s", literal, got, want)
			}
		}
	}
}

// Proves A19, I10: the order, worked out by hand; the fuzz target compares with exact rationals.
func TestDecimalOrder(t *testing.T) {
	ascending := []string{
		"-1e9999999999999999999999", "-1e1000000000000000000", "-1e400", "-9007199254740993", "-9007199254740992", "-10", "-2", "-1.5", "-1.05", "-1",
		"-0.1", "-1e-400", "-1e-99999999999999999999", "-1e-99999999999999999999999", "0", "1e-99999999999999999999999", "1e-99999999999999999999", "1e-400", "0.1",
		"0.11", "0.2", "1", "1.000000000000000005", "1.0000000000000000051", "1.00000000000000000510000000000000001", "1.05", "1.5", "2", "10", "9007199254740992", "9007199254740993",
		"9007199254740993.00000000000000000000000001", "12345678901234567890123456789", "12345678901234567890123456790", "1e400",
		"1e1000000000000000000", "2e1000000000000000000", "1e1000000000000000001", "1e9999999999999999999", "1e9999999999999999999999",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			x, y := decimal(t, a), decimal(t, b)
			if got := x.Cmp(y); got != want || x.Equal(y) != (want == 0) {
				t.Errorf("%s against %s: %d, want %d", a, b, got, want)
			}
		}
	}
}

// Proves A20: 1.0 is an integer.
func TestDecimalIsInteger(t *testing.T) {
	for literal, want := range map[string]string{
		"0": "0", "-0.0": "0", "1.0": "1", "1e2": "100", "-120.0e-1": "-12", "9223372036854775807": "9223372036854775807",
		"-9223372036854775808": "-9223372036854775808", "9223372036854775808": "large", "-9223372036854775809": "large", "9999999999999999999": "large",
		"1e19": "large", "1e400": "large", "1e99999999999999999999": "large", "1.5": "", "0.1": "", "1e-1": "", "15e-1": "", "1e-99999999999999999999": "",
		"12345678901234567890123456789": "large", "1234567890123456789012345678.9": "",
	} {
		d := decimal(t, literal)
		n, ok := d.Int64()
		if d.IsInteger() != (want != "") || ok != (want != "" && want != "large") || ok && fmt.Sprint(n) != want {
			t.Errorf("%s: integer %t, %d %t", literal, d.IsInteger(), n, ok)
		}
	}
}

// Proves I10: multipleOf is exact and bounded.
func TestDecimalMultiple(t *testing.T) {
	for _, tt := range []struct {
		n, of string
		want  bool
	}{
		{"10", "2", true}, {"7", "2", false}, {"-10", "5", true}, {"10", "-5", true}, {"0", "3", true}, {"0", "0", false}, {"3", "0", false},
		{"4.5", "1.5", true}, {"35", "1.5", false}, {"0.0075", "0.0001", true}, {"0.00751", "0.0001", false}, {"1e308", "0.5", true},
		{"1e308", "3", false}, {"12391239123", "1e-8", true}, {"1.1", "0.1", true}, {"0.3", "0.1", true}, {"1e-7", "1", false},
		{"9007199254740993", "2", false}, {"9007199254740993", "3", true}, {"1e400", "7", false}, {"7e400", "7", true}, {"1e400", "1024", true},
		{"1e9", "1024", false}, {"1e10", "1024", true}, {"1e1000000", "5e999999", true}, {"5e999999", "1e1000000", false}, {"1", "10", false},
		{"123456789012345678901234567890", "10", true}, {"123456789012345678901234567891", "7", false},
		{strings.Repeat("9", 100), strings.Repeat("3", 100), true}, {strings.Repeat("9", 100), strings.Repeat("3", 99), false},
		{strings.Repeat("9", 1200), strings.Repeat("9", 600), true}, {strings.Repeat("9", 1201), strings.Repeat("9", 600), false},
		{"1e50", "1" + strings.Repeat("0", 29) + "1", false}, {strings.Repeat("9", 38), "18446744073709551615", false},
		{"340282366920938463463374607431768211455", "18446744073709551615", true}, {"99999999999999999980000000000000000001", "9999999999999999999", true},
		// Numbers beyond the bounds are not multiples.
		{strings.Repeat("9", 2050), strings.Repeat("9", 1025), false}, {"1e1000000000000000000", "1", false}, {"1", "1e-1000000000000000000", false},
		{"0", "1e1000000000000000000", true},
	} {
		if got := decimal(t, tt.n).IsMultipleOf(decimal(t, tt.of)); got != tt.want {
			t.Errorf("%s is a multiple of %s: %t", tt.n, tt.of, got)
		}
	}
}

// Proves A22: text that is not a JSON number is not a Decimal.
func TestParseDecimalRefusesOtherForms(t *testing.T) {
	for _, literal := range []string{
		"", "-", "+1", "01", "-01", "00", "1.", ".5", "1.e1", "1e", "1e+", "1e1.5", "0x1", "1_000", "NaN", "Infinity", "-Infinity", "1 ", " 1", "1,0", "--1", "1e1e1", "１", "true", "\"1\"",
	} {
		if d, err := jsonstream.ParseDecimal([]byte(literal)); err == nil || d != (jsonstream.Decimal{}) {
			t.Errorf("%q is read as %s", literal, d)
		}
	}
}

// Proves I10: an operation on a number allocates in proportion to its digits, however large its
// exponent.
func TestDecimalAllocations(t *testing.T) {
	for _, tt := range []struct {
		literal string
		parse   float64
	}{
		{"9007199254740993", 0}, {"-1.25e-300", 0}, {"1e1000000", 0}, {"1234567890123456789012", 0}, {strings.Repeat("9", 1000), 3},
	} {
		literal := []byte(tt.literal)
		d, other := decimal(t, tt.literal), decimal(t, tt.literal[:1]+"3"+tt.literal[2:])
		divisor := decimal(t, "12e9")
		buf := make([]byte, 0, 2000)
		if n := testing.AllocsPerRun(100, func() { jsonstream.ParseDecimal(literal) }); n > tt.parse {
			t.Errorf("%.20s: parsing allocates %v times", tt.literal, n)
		}
		if n := testing.AllocsPerRun(100, func() {
			d.Cmp(other)
			d.IsInteger()
			d.Equal(other)
			d.IsMultipleOf(divisor)
			buf = d.AppendCanonical(buf[:0])
		}); n > 0 {
			t.Errorf("%.20s: comparing allocates %v times", tt.literal, n)
		}
		if len(buf) > len(tt.literal)+25 {
			t.Errorf("%.20s: canonical text of %d bytes", tt.literal, len(buf))
		}
	}
}

// Proves I10: the memory of an operation on a number is proportional to its length.
func TestDecimalMemory(t *testing.T) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, literal := range []string{
			strings.Repeat("9", n), "0." + strings.Repeat("0", n) + "1", "1e" + strings.Repeat("9", n), "1" + strings.Repeat("0", n), "-1.5e-" + strings.Repeat("0", n) + "3",
		} {
			text, divisor := []byte(literal), decimal(t, "7")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d, err := jsonstream.ParseDecimal(text)
			d.Cmp(divisor)
			d.IsInteger()
			d.IsMultipleOf(divisor)
			canonical := d.AppendCanonical(nil)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > uint64(16*n) || len(canonical) > n+25 {
				t.Errorf("%.10s of %d bytes: %d bytes allocated, %d canonical, %v", literal, n, used, len(canonical), err)
			}
		}
	}
}

// Proves I10, A20: the fast path for integers of up to 18 digits has the same result, and leaves
// other numbers to the general one.
func TestParseInt(t *testing.T) {
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "7": 7, "-7": -7, "10": 10, "100200300": 100200300,
		"999999999999999999": 999999999999999999, "-999999999999999999": -999999999999999999,
	} {
		n, ok := jsonstream.ParseInt([]byte(literal))
		d, err := jsonstream.ParseDecimal([]byte(literal))
		if long, whole := d.Int64(); !ok || n != want || err != nil || !whole || long != want {
			t.Errorf("%s is %d, %t; the long way %d, %v", literal, n, ok, long, err)
		}
	}
	for _, literal := range []string{"", "-", "00", "01", "-01", "+1", "1.0", "1e2", "1E2", "--1", "1-", "1 ", " 1", "1000000000000000000", "a", "1a", "\u0661"} {
		if n, ok := jsonstream.ParseInt([]byte(literal)); ok {
			t.Errorf("%q is %d", literal, n)
		}
	}
}
