package jsonstream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stopgate/stopgate/jsonstream"
)

// generous are limits of which a small text can exceed only the depth.
var generous = jsonstream.Options{MaxDepth: 512, MaxMembers: 1 << 20, MaxValues: 1 << 24, MaxKey: 1 << 20, MaxExponent: jsonstream.AnyExponent}

// prefixState is the state of jsontext after a prefix of a text.
type prefixState int

const (
	accepted   prefixState = iota
	incomplete             // more bytes can make it valid
	rejected               // no more bytes can
)

// judgePrefix returns the state of jsontext, with its defaults, after a text.
func judgePrefix(text string) prefixState {
	d := jsontext.NewDecoder(strings.NewReader(text))
	_, err := d.ReadValue()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return incomplete
	case err != nil, strings.Trim(text[d.InputOffset():], " \t\r\n") != "":
		return rejected
	}
	return accepted
}

// checkFirstWrongByte checks with jsontext that the byte at offset is the first one after which the
// text cannot become valid. If jsontext refuses an escape only at its end, the escape is completed
// in several ways.
func checkFirstWrongByte(t testing.TB, text string, offset int64) {
	t.Helper()
	if offset > 0 && judgePrefix(text[:offset-1]) == rejected {
		t.Errorf("%.200q: refused at byte %d, but %q is wrong already", text, offset, text[:offset-1])
	}
	if judgePrefix(text[:offset]) == rejected {
		return
	}
	for _, rest := range []string{`0"`, `00"`, `000"`, `0000"`, `c00"`, `c000"`, `dc00"`, `\udc00"`} {
		if judgePrefix(text[:offset]+rest) != rejected {
			t.Errorf("%.200q: refused at byte %d, but %q can become right", text, offset, text[:offset]+rest)
		}
	}
}

// tokensOf lists the tokens of an accepted text according to jsontext.
func tokensOf(t testing.TB, text []byte) (tokens []string) {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			return tokens
		}
		if err != nil {
			t.Fatalf("%.200q: %v", text, err)
		}
		tokens = append(tokens, fmt.Sprintf("%v %s", token.Kind(), token))
	}
}

// tokens lists the tokens of a value in the same form.
func tokens(v jsonstream.Value) (list []string) {
	switch v.Kind() {
	case jsonstream.Object:
		list = append(list, "{ {")
		for key, value := range v.Members() {
			list = append(append(list, tokens(key)...), tokens(value)...)
		}
		return append(list, "} }")
	case jsonstream.Array:
		list = append(list, "[ [")
		for element := range v.Elements() {
			list = append(list, tokens(element)...)
		}
		return append(list, "] ]")
	case jsonstream.String:
		return []string{"string " + v.Text()}
	case jsonstream.Number:
		return []string{"number " + string(v.Raw())}
	}
	return []string{v.Kind().String() + " " + string(v.Raw())}
}

// goValue converts a value to the result of encoding/json with UseNumber.
func goValue(v jsonstream.Value) any {
	switch v.Kind() {
	case jsonstream.Object:
		m := map[string]any{}
		for key, value := range v.Members() {
			m[key.Text()] = goValue(value)
		}
		return m
	case jsonstream.Array:
		list := []any{}
		for element := range v.Elements() {
			list = append(list, goValue(element))
		}
		return list
	case jsonstream.String:
		return v.Text()
	case jsonstream.Number:
		return json.Number(v.Raw())
	case jsonstream.True, jsonstream.False:
		return v.Kind() == jsonstream.True
	}
	return nil
}

// stdlib decodes with encoding/json, numbers as literals.
func stdlib(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("data behind the value")
	}
	return v, nil
}
