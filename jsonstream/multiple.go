package jsonstream

import (
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// longestDivisor is the maximum number of significant digits of a divisor.
const longestDivisor = 1024

// IsMultipleOf reports whether d is an exact integer multiple of m (multipleOf of JSON
// Schema). Zero is a multiple of everything except zero, and no number is a multiple of
// zero. The work is bounded; a number beyond the bound is not a multiple: divisors of more
// than 1,024 significant digits, and exponents of 10^18 and more.
func (d Decimal) IsMultipleOf(m Decimal) bool {
	switch {
	case m.isZero():
		return false
	case d.isZero():
		return true
	case d.huge != "" || m.huge != "":
		return false
	}
	// With d = a*10^x and m = b*10^y for integers a and b, d/m = (a/b)*10^(x-y).
	a, b := d.digits(), m.digits()
	shift := (d.exponent - int64(len(a))) - (m.exponent - int64(len(b)))
	if shift < 0 || len(b) > longestDivisor {
		// a does not end in 0, hence b*10^n with n > 0 does not divide it.
		return false
	}
	// b has fewer factors 2 or 5 than bits, so more powers of 10 do not help.
	shift = min(shift, 4*int64(len(b)))
	if len(b) <= 19 {
		return dividesShort(a, b, shift)
	}
	return dividesLong(a, b, shift)
}

// step is the number of digits that are processed at once.
const step = 18

// dividesShort reports whether b, of at most 19 digits, divides a*10^shift.
func dividesShort(a, b string, shift int64) bool {
	divisor, _ := strconv.ParseUint(b, 10, 64)
	rest := uint64(0)
	for ; len(a) > 0; a = a[min(step, len(a)):] {
		digits := a[:min(step, len(a))]
		value, _ := strconv.ParseUint(digits, 10, 64)
		high, low := bits.Mul64(rest, powerOfTen(len(digits)))
		low, carry := bits.Add64(low, value, 0)
		rest = bits.Rem64(high+carry, low, divisor)
	}
	for range shift {
		high, low := bits.Mul64(rest, 10)
		rest = bits.Rem64(high, low, divisor)
	}
	return rest == 0
}

// dividesLong is dividesShort for longer divisors.
func dividesLong(a, b string, shift int64) bool {
	divisor, _ := new(big.Int).SetString(strings.Clone(b), 10)
	rest, value, power := new(big.Int), new(big.Int), new(big.Int)
	for ; len(a) > 0; a = a[min(step, len(a)):] {
		digits := a[:min(step, len(a))]
		n, _ := strconv.ParseUint(digits, 10, 64)
		rest.Mul(rest, power.SetUint64(powerOfTen(len(digits))))
		rest.Rem(rest.Add(rest, value.SetUint64(n)), divisor)
	}
	power.Exp(big.NewInt(10), big.NewInt(shift), divisor)
	return rest.Rem(rest.Mul(rest, power), divisor).Sign() == 0
}

// powerOfTen returns 10^n for n up to 19.
func powerOfTen(n int) uint64 {
	power := uint64(1)
	for range n {
		power *= 10
	}
	return power
}
