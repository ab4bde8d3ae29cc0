package approve

import (
	"crypto/rand"

	"github.com/stopgate/stopgate/jsonstream"
)

// newID returns an id of 130 random bits.
func newID() string { return rand.Text() }

// isObject reports whether bytes are one JSON object.
func isObject(text []byte) bool {
	v, err := jsonstream.Parse(text, jsonstream.Options{})
	return err == nil && v.Kind() == jsonstream.Object
}

// wordsOf returns the words of an argument vector in JSON.
func wordsOf(json string) (words [][]byte, ok bool) {
	v, err := jsonstream.Parse([]byte(json), jsonstream.Options{})
	if err != nil || v.Kind() != jsonstream.Array {
		return nil, false
	}
	for element := range v.Elements() {
		if element.Kind() != jsonstream.String {
			return nil, false
		}
		words = append(words, element.AppendText(nil))
	}
	return words, len(words) > 0
}

// textOf reads a JSON string.
func textOf(json string) (text []byte, ok bool) {
	v, err := jsonstream.Parse([]byte(json), jsonstream.Options{})
	if err != nil || v.Kind() != jsonstream.String {
		return nil, false
	}
	return v.AppendText(nil), true
}
