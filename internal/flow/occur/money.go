package occur

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"
)

// codes are the currencies of ISO 4217.
var codes = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for code := range strings.FieldsSeq(`AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTC BTN BWP BYN BZD CAD
	CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB ETH EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL
	HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD
	MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR
	SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND
	VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL`) {
		m[code] = code
	}
	return m
})

// signs are the signs of currencies. A sign of several currencies is one of its own.
var signs = map[string]string{"$": "$", "€": "EUR", "£": "GBP", "¥": "¥", "₹": "INR", "₽": "RUB", "₩": "KRW", "₿": "BTC"}

// currencyWords are names of currencies in running text.
var currencyWords = map[string]string{"euro": "EUR", "euros": "EUR", "dollar": "$", "dollars": "$", "eur": "EUR", "usd": "USD", "gbp": "GBP", "chf": "CHF"}

// currencyOf returns the currency of a word, "" if it is none.
func currencyOf(word []byte) string {
	if len(word) == 0 {
		return ""
	}
	c := word[0]
	switch {
	case c == '$' || c >= utf8.RuneSelf:
		return signs[string(word)]
	case len(word) < 3 || len(word) > len("dollars"):
		return ""
	case len(word) == 3 && classes[c] == upper:
		if code, ok := codes()[string(word)]; ok {
			return code
		}
	}
	switch c | 0x20 {
	case 'e', 'd', 'u', 'g', 'c':
		var buf [8]byte
		return currencyWords[string(lowered(buf[:0], word))]
	}
	return ""
}

// The first and the last bytes of currencies.
var mayBeginCurrency, mayEndCurrency = edges("edugc"), edges("osrdpf")

func edges(small string) (t [256]bool) {
	for b := range t {
		t[b] = classes[b]&(upper|high) != 0 || b == '$' || strings.IndexByte(small, byte(b)) >= 0
	}
	return t
}

// currencyBefore returns the currency right before a number, with at most a space between.
func currencyBefore(text []byte, from int) (code string, ok bool) {
	end := from
	if end > 0 && text[end-1] == ' ' {
		end--
	}
	if end == 0 || !mayEndCurrency[text[end-1]] {
		return "", false
	}
	start := end
	for start > 0 && end-start < 8 && classes[text[start-1]]&(lower|upper) != 0 {
		start--
	}
	if start == end && end > 0 {
		_, size := utf8.DecodeLastRune(text[:end])
		start -= size
		code = currencyOf(text[start:end])
		if code == "$" && bytes.HasSuffix(text[:start], []byte("US")) {
			start, code = start-2, "USD"
		}
	} else {
		code = currencyOf(text[start:end])
	}
	if code == "" || !mayPrecede(text[:start]) {
		return "", false
	}
	return code, true
}

// currencyAfter returns the currency right after a number, with at most a space between, and its
// length.
func currencyAfter(text []byte, to int) (code string, size int) {
	start := to
	if start < len(text) && text[start] == ' ' {
		start++
	}
	if start == len(text) || !mayBeginCurrency[text[start]] {
		return "", 0
	}
	end := start
	for end < len(text) && end-start < 8 && classes[text[end]]&(lower|upper) != 0 {
		end++
	}
	if start == end && start < len(text) {
		_, n := utf8.DecodeRune(text[start:])
		end += n
	}
	code = currencyOf(text[start:end])
	if code == "" || !mayFollow(text[end:]) {
		return "", 0
	}
	return code, end - to
}

// plainMoney parses a value that is one amount, with or without a currency.
func plainMoney(value []byte) (number []byte, code string, ok bool) {
	value = asciiDigits(value)
	if number, ok = plainNumber(value); ok {
		return number, "", true
	}
	from := bytes.IndexAny(value, "0123456789")
	if from < 0 || len(value) > longestNumber {
		return nil, "", false
	}
	to := numeralEnd(value, from)
	head, tail := bytes.TrimSpace(value[:from]), bytes.TrimSpace(value[to:])
	head, negative := bytes.CutSuffix(head, []byte("-"))
	head = bytes.TrimSpace(head)
	switch {
	case len(head) > 0 && len(tail) == 0:
		if code = currencyOf(head); string(head) == "US$" {
			code = "USD"
		}
	case len(head) == 0 && len(tail) > 0:
		code = currencyOf(tail)
	}
	number = parseNumeral(nil, value[from:to], true).plain
	if code == "" || number == nil {
		return nil, "", false
	}
	if negative && string(number) != "0" {
		number = append([]byte("-"), number...)
	}
	return number, code, true
}
