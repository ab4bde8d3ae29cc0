package jsonstream

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Decimal is the exact value of a JSON number of any size. It is stored as sign, digits and
// exponent and never expanded, so that 1e1000000 costs as much as its nine characters (I10,
// A19 to A21). It owns its digits and refers to no text; up to 22 significant digits it
// needs no allocation. Two Decimals are == exactly if they are mathematically equal: 1, 1.0
// and 1e0 are the same Decimal, and so are 0 and -0. The zero Decimal is 0.
type Decimal struct {
	// The value is d.ddd * 10^exponent, the first and the last digit are not 0.
	// huge holds the digits of an exponent that is 10^18 or more away from 0;
	// exponent is its sign then.
	exponent int64
	huge     string
	long     string // the digits if there are more than small can hold
	small    [22]byte
	length   uint8 // of the digits in small; 0 in a zero
	negative bool
}

var errNotNumber = errors.New("json: this is not a number")

// ParseDecimal parses a JSON number (RFC 8259 section 6): no plus sign, no leading zeros,
// no white space, no names. It accepts any exponent; the parser limits exponents.
func ParseDecimal(literal []byte) (Decimal, error) {
	if d, ok := smallInteger(literal); ok {
		return d, nil
	}
	if len(literal) == 0 || literal[0] != '-' && (literal[0] < '0' || literal[0] > '9') {
		return Decimal{}, errNotNumber
	}
	n := startNumber(literal[0], AnyExponent)
	if used, _ := n.scan(literal[1:]); used < len(literal)-1 || !n.complete() {
		return Decimal{}, errNotNumber
	}
	var d Decimal
	mantissa, negative := literal, literal[0] == '-'
	if negative {
		mantissa = mantissa[1:]
	}
	var written []byte
	if e := bytes.IndexAny(mantissa, "eE"); e >= 0 {
		mantissa, written = mantissa[:e], mantissa[e+1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	whole = bytes.TrimLeft(whole, "0")
	place := int64(len(whole)) - 1 // the exponent of the first digit
	if len(whole) == 0 {
		first := bytes.TrimLeft(fraction, "0")
		place = int64(len(first)-len(fraction)) - 1
		fraction = first
	}
	if fraction = bytes.TrimRight(fraction, "0"); len(fraction) == 0 {
		whole = bytes.TrimRight(whole, "0")
	}
	if len(whole)+len(fraction) == 0 {
		return Decimal{}, nil
	}
	d.negative = negative
	if len(whole)+len(fraction) <= len(d.small) {
		d.length = uint8(copy(d.small[copy(d.small[:], whole):], fraction) + len(whole))
	} else {
		d.long = string(whole) + string(fraction)
	}
	d.setExponent(place, written)
	return d, nil
}

// ParseInt parses the most common numbers: integers of up to 18 digits without a fraction
// or an exponent. ok reports whether the literal is one of them.
func ParseInt(literal []byte) (n int64, ok bool) {
	digits := literal
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	if negative {
		n = -n
	}
	return n, true
}

// smallInteger parses integers of a few digits, which almost all numbers are.
func smallInteger(literal []byte) (d Decimal, ok bool) {
	digits := literal
	if len(digits) > 0 && digits[0] == '-' {
		digits, d.negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > len(d.small) || digits[0] == '0' {
		return Decimal{}, false
	}
	for i, c := range digits {
		if c < '0' || c > '9' {
			return Decimal{}, false
		}
		if d.small[i] = c; c != '0' {
			d.length = uint8(i + 1)
		}
	}
	clear(d.small[d.length:])
	d.exponent = int64(len(digits) - 1)
	return d, true
}

// hugeDigits is the number of digits that makes an exponent huge: 10^18 has this many.
const hugeDigits = 19

// setExponent sets the exponent to place, which is smaller than the length of a text, plus
// the written exponent.
func (d *Decimal) setExponent(place int64, written []byte) {
	sign := int64(1)
	if len(written) > 0 && (written[0] == '-' || written[0] == '+') {
		if written[0] == '-' {
			sign = -1
		}
		written = written[1:]
	}
	written = bytes.TrimLeft(written, "0")
	if len(written) < hugeDigits-1 {
		value, _ := strconv.ParseInt("0"+string(written), 10, 64)
		d.exponent = place + sign*value
		return
	}
	sum := addToDigits(written, sign*place)
	if len(sum) >= hugeDigits {
		d.exponent, d.huge = sign, sum
		return
	}
	value, _ := strconv.ParseInt(sum, 10, 64)
	d.exponent = sign * value
}

// addToDigits adds n, which is comparatively small, to a number of at least hugeDigits-1
// digits.
func addToDigits(digits []byte, n int64) string {
	sum := append([]byte{'0'}, digits...)
	for i := len(sum) - 1; n != 0; i-- {
		n += int64(sum[i] - '0')
		digit := (n%10 + 10) % 10
		sum[i] = byte('0' + digit)
		n = (n - digit) / 10
	}
	return strings.TrimLeft(string(sum), "0")
}

// digits returns the significant digits.
func (d *Decimal) digits() string {
	if d.long != "" {
		return d.long
	}
	return string(d.small[:d.length])
}

// Sign returns -1, 0 or +1.
func (d Decimal) Sign() int {
	switch {
	case d.isZero():
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d *Decimal) isZero() bool { return d.length == 0 && d.long == "" }

// Equal reports whether d and e are the same number.
func (d Decimal) Equal(e Decimal) bool { return d == e }

// Cmp returns -1, 0 or +1 if d is less than, equal to or greater than e.
func (d Decimal) Cmp(e Decimal) int {
	sign := d.Sign()
	if sign != e.Sign() || sign == 0 {
		return cmp.Compare(sign, e.Sign())
	}
	order := d.compareExponent(&e)
	if order == 0 {
		order = cmp.Compare(d.digits(), e.digits())
	}
	return sign * order
}

func (d *Decimal) compareExponent(e *Decimal) int {
	switch {
	case d.huge == "" && e.huge == "":
		return cmp.Compare(d.exponent, e.exponent)
	case d.huge == "":
		return int(-e.exponent)
	case e.huge == "" || d.exponent != e.exponent:
		return int(d.exponent)
	}
	order := cmp.Compare(len(d.huge), len(e.huge))
	if order == 0 {
		order = cmp.Compare(d.huge, e.huge)
	}
	return int(d.exponent) * order
}

// IsInteger reports whether d has no fraction, however it is written (A20).
func (d Decimal) IsInteger() bool {
	if d.huge != "" {
		return d.exponent > 0
	}
	return d.isZero() || d.exponent >= int64(len(d.digits()))-1
}

// Int64 returns d if it is an integer that fits into an int64.
func (d Decimal) Int64() (n int64, ok bool) {
	if !d.IsInteger() || d.huge != "" || d.exponent > 18 {
		return 0, false
	}
	var magnitude uint64 // below 10^19
	digits := d.digits()
	for i := range int(d.exponent) + 1 {
		magnitude *= 10
		if i < len(digits) {
			magnitude += uint64(digits[i] - '0')
		}
	}
	switch {
	case d.negative && magnitude <= -math.MinInt64:
		return -int64(magnitude), true
	case !d.negative && magnitude <= math.MaxInt64:
		return int64(magnitude), true
	}
	return 0, false
}

// Bounds between which AppendCanonical writes a number without an exponent.
const (
	plainAbove = -7
	plainBelow = 21
)

// AppendCanonical appends the unique text of d and of every equal number: JSON, without an
// exponent if the first digit is between 10^-7 and 10^20, otherwise as d.ddde[-]n.
func (d Decimal) AppendCanonical(dst []byte) []byte {
	if d.isZero() {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	digits, e := d.digits(), int(d.exponent)
	switch {
	case d.huge != "" || d.exponent < plainAbove || d.exponent >= plainBelow:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'e')
		if d.huge == "" {
			return strconv.AppendInt(dst, d.exponent, 10)
		}
		if d.exponent < 0 {
			dst = append(dst, '-')
		}
		return append(dst, d.huge...)
	case e < 0:
		return append(appendZeros(append(dst, '0', '.'), -e-1), digits...)
	case len(digits) <= e+1:
		return appendZeros(append(dst, digits...), e+1-len(digits))
	}
	dst = append(append(dst, digits[:e+1]...), '.')
	return append(dst, digits[e+1:]...)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

// String returns the canonical text of d.
func (d Decimal) String() string { return string(d.AppendCanonical(nil)) }
