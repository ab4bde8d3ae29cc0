// Command fragments carries the arguments of two calls, which arrive interleaved, to another process
// as lines of the fragment protocol, and puts them together there, value by value.
//
//	go run ./examples/fragments
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// chunks are the pieces in which a model wrote the arguments, with the index of their call. A chunk
// may end inside of an escape.
var chunks = []struct {
	call int
	text string
}{
	{0, `{"path":"/tmp/foo.rs","content":"fn main(`},
	{1, `{"patterns":[{"old":"a\u00`},
	{0, `) {...}"`},
	{1, `e9","paths":["src/`},
	{0, `}`},
	{1, `a.rs"]}]}`},
}

func main() {
	var wire bytes.Buffer
	err := write(&wire)
	if err == nil {
		_, err = fmt.Print(wire.String())
	}
	if err == nil {
		err = read(&wire, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write sends the chunks as lines.
func write(wire io.Writer) error {
	var failed error
	mux := jsonstream.FragmentMux{Emit: func(f *jsonstream.Fragment) (stop bool) {
		_, failed = wire.Write(f.AppendJSON(nil))
		return failed != nil
	}}
	for i, tool := range []stopgate.ToolName{"fs_create_file", "fs_modify_file"} {
		if err := mux.Open(i, stopgate.CallID(fmt.Sprint("call_", i)), tool); err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if err := mux.Feed(c.call, []byte(c.text)); err != nil {
			return err
		}
	}
	for i := range 2 {
		if err := mux.Close(i); err != nil {
			return err
		}
	}
	return failed
}

// read prints every parameter as soon as it is complete, and the arguments at their end.
func read(wire io.Reader, out io.Writer) error {
	calls := map[int]*jsonstream.FragmentAggregator{}
	for lines := bufio.NewScanner(wire); lines.Scan(); {
		f, err := jsonstream.ParseFragment(lines.Bytes())
		if err != nil {
			return err
		}
		if calls[f.Index] == nil {
			calls[f.Index] = &jsonstream.FragmentAggregator{}
		}
		value, err := calls[f.Index].Add(&f)
		if err != nil {
			return err
		}
		switch {
		case f.Kind == jsonstream.End && len(f.Path) == 1:
			fmt.Fprintf(out, "call %d: %s is complete: %s\n", f.Index, f.Path[0].Key, value.Raw())
		case f.Kind == jsonstream.End && len(f.Path) == 0:
			fmt.Fprintf(out, "call %d: %s\n", f.Index, calls[f.Index].Bytes())
		}
	}
	return nil
}
