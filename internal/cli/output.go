package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// Format is the value of --format.
type Format string

// Print prints the answer of a command: answer as a line of JSON, or the text for people.
func (f Format) Print(w io.Writer, answer any, text string) error {
	if f == "json" {
		return WriteJSON(w, answer)
	}
	_, err := io.WriteString(w, Fit(w, text))
	return err
}

// PrintList prints every element of a list, as a line of JSON or as its line for people, to whom
// an empty list is reported as none, unless that is "".
func PrintList[T any](s Streams, f Format, list []T, none string, line func(T) string) error {
	if len(list) == 0 && f != "json" && none != "" {
		fmt.Fprintln(s.Err, "stopgate: "+none)
	}
	out := bufio.NewWriter(s.Out)
	for _, x := range list {
		if f != "json" {
			fmt.Fprint(out, Fit(s.Out, line(x)+"\n"))
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
