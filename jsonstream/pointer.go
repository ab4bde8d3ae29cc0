package jsonstream

import (
	"fmt"
	"strconv"
	"strings"
)

// Pointer is an RFC 6901 pointer as its unescaped reference tokens. The empty
// Pointer is the whole document.
type Pointer []string

// PointerError is the error of an invalid pointer.
type PointerError struct {
	Offset  int // number of bytes before the error
	Message string
}

// Error returns the message and the offset.
func (e *PointerError) Error() string {
	return fmt.Sprintf("json pointer: %s at byte %d", e.Message, e.Offset)
}

// ParsePointer parses the text form: empty, or tokens that each start with "/", in which
// "~0" is "~" and "~1" is "/" (RFC 6901 section 3). The error is a *PointerError.
func ParsePointer(s string) (Pointer, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, &PointerError{Offset: 0, Message: `a pointer starts with "/"`}
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return nil, &PointerError{Offset: i, Message: `"~" is written as "~0"`}
		}
	}
	p := Pointer(strings.Split(s[1:], "/"))
	for i, token := range p {
		if strings.Contains(token, "~") {
			p[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		}
	}
	return p, nil
}

// String returns the text form of the pointer, which ParsePointer accepts.
func (p Pointer) String() string {
	var b []byte
	for _, token := range p {
		b = AppendToken(b, token)
	}
	return string(b)
}

// Find returns the value that the pointer identifies in v, if there is one. A token
// identifies an element of an array only as its decimal index without leading zeros.
func (p Pointer) Find(v Value) (Value, bool) {
	ok := v.IsValid()
	for _, token := range p {
		switch v.Kind() {
		case Object:
			v, ok = v.Get(token)
		case Array:
			i, err := strconv.Atoi(token)
			if err != nil || strconv.Itoa(i) != token {
				return Value{}, false
			}
			v, ok = v.Index(i)
		default:
			return Value{}, false
		}
	}
	return v, ok
}

// All appends to dst the values that the pointer identifies in v. The token "*" matches
// every element of an array, and no other token matches an element. A missing member
// matches no value. complete is false if the pointer leads into a value that cannot have
// such a part.
func (p Pointer) All(dst []Value, v Value) (values []Value, complete bool) {
	if !v.IsValid() {
		return dst, true
	}
	if len(p) == 0 {
		return append(dst, v), true
	}
	switch v.Kind() {
	case Object:
		next, ok := v.Get(p[0])
		if !ok {
			return dst, true
		}
		return p[1:].All(dst, next)
	case Array:
		if p[0] != "*" || v.Len() == 0 {
			return dst, false
		}
		for element := range v.Elements() {
			n, ok := len(dst), false
			if dst, ok = p[1:].All(dst, element); !ok || len(dst) == n {
				return dst, false
			}
		}
		return dst, true
	}
	return dst, false
}

// AppendToken appends "/" and an escaped reference token (RFC 6901 section 3).
func AppendToken[T []byte | string](dst []byte, token T) []byte {
	dst = append(dst, '/')
	from := 0
	for i := range len(token) {
		switch token[i] {
		case '~':
			dst = append(append(dst, token[from:i]...), "~0"...)
		case '/':
			dst = append(append(dst, token[from:i]...), "~1"...)
		default:
			continue
		}
		from = i + 1
	}
	return append(dst, token[from:]...)
}
