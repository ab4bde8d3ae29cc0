package session

import (
	"errors"
	"math"
	"math/bits"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Amount is a running sum: not negative, exact to nine decimals, up to about 3.4e29. A
// larger sum saturates at MaxAmount and stays there.
type Amount struct {
	hi, lo uint64 // in units of 10^-9
}

const decimals = 9

// maxDigits is the number of decimal digits that an Amount can always hold.
const maxDigits = 29 + decimals

// MaxAmount is the saturated amount: it exceeds every limit.
var MaxAmount = Amount{math.MaxUint64, math.MaxUint64}

// AmountOf converts a number. Decimals after the ninth are rounded up, so that a sum is
// never too small. ok is false for a negative number, which would lower the sum of other
// calls.
func AmountOf(d jsonstream.Decimal) (a Amount, ok bool) {
	if d.Sign() < 0 {
		return Amount{}, false
	}
	a, more := parse(d.String())
	if more {
		a = a.Add(Amount{lo: 1})
	}
	return a, true
}

// LimitOf converts the limit of a sum. Decimals after the ninth are rounded down.
func LimitOf(d jsonstream.Decimal) (a Amount, ok bool) {
	if d.Sign() < 0 {
		return Amount{}, false
	}
	a, _ = parse(d.String())
	return a, true
}

// parse reads the canonical text of a number that is not negative. more reports that
// decimals after the ninth were dropped.
func parse(text string) (a Amount, more bool) {
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok {
		if strings.HasPrefix(exponent, "-") {
			return Amount{}, mantissa != "0" // smaller than 10^-7: below or about one unit
		}
		return MaxAmount, false
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if len(whole) > maxDigits-decimals {
		return MaxAmount, false
	}
	if len(fraction) > decimals {
		fraction, more = fraction[:decimals], true
	}
	for i := range len(whole) {
		a = a.tenfold(whole[i])
	}
	for i := range decimals {
		digit := byte('0')
		if i < len(fraction) {
			digit = fraction[i]
		}
		a = a.tenfold(digit)
	}
	return a, more
}

func (a Amount) tenfold(digit byte) Amount {
	carry, lo := bits.Mul64(a.lo, 10)
	return Amount{hi: a.hi*10 + carry, lo: lo}.Add(Amount{lo: uint64(digit - '0')})
}

// Add returns the sum.
func (a Amount) Add(b Amount) Amount {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, over := bits.Add64(a.hi, b.hi, carry)
	if over != 0 || a == MaxAmount || b == MaxAmount {
		return MaxAmount
	}
	return Amount{hi, lo}
}

// Sub returns a - b, or zero if b is larger. MaxAmount stays MaxAmount.
func (a Amount) Sub(b Amount) Amount {
	if a == MaxAmount || a.Cmp(b) <= 0 {
		if a == MaxAmount {
			return MaxAmount
		}
		return Amount{}
	}
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return Amount{hi: a.hi - b.hi - borrow, lo: lo}
}

// Cmp compares two amounts: -1, 0 or 1.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a == b:
		return 0
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	}
	return 1
}

// IsZero reports whether the amount is zero.
func (a Amount) IsZero() bool { return a == Amount{} }

// String writes the amount as a decimal; MaxAmount as "max".
func (a Amount) String() string {
	if a == MaxAmount {
		return "max"
	}
	var digits [40]byte
	at := len(digits)
	for n := 0; n <= decimals || a.hi != 0 || a.lo != 0; n++ {
		if n == decimals {
			at--
			digits[at] = '.'
		}
		var rest uint64
		hi := a.hi / 10
		a.lo, rest = bits.Div64(a.hi%10, a.lo, 10)
		a.hi = hi
		at--
		digits[at] = '0' + byte(rest)
	}
	return strings.TrimSuffix(strings.TrimRight(string(digits[at:]), "0"), ".")
}

// MarshalText returns the text of [Amount.String].
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

var errAmount = errors.New("session: invalid amount: want a decimal number that is not negative, or \"max\"")

// UnmarshalText reads the text that MarshalText writes.
func (a *Amount) UnmarshalText(text []byte) error {
	if string(text) == "max" {
		*a = MaxAmount
		return nil
	}
	d, err := jsonstream.ParseDecimal(text)
	if err != nil || d.Sign() < 0 {
		return errAmount
	}
	*a, _ = parse(d.String())
	return nil
}
