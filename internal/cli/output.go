package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// PrintList prints a list: a line for people, or one of JSON, for every element.
func PrintList[T any](w io.Writer, format string, list []T, line func(T) string) error {
	out := bufio.NewWriter(w)
	for _, x := range list {
		if format != "json" {
			fmt.Fprintln(out, line(x))
		} else if err := WriteJSON(out, x); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Count writes a number with its noun: 1 file, 2 files.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// WriteJSON writes one line of JSON, without HTML escapes.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
