package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// maxLine bounds one line of a batch: the largest arguments, escaped once more.
const maxLine = 64 << 20

// decideBatch decides every line of a JSON Lines file and writes one answer per
// line, in the same order. A line that cannot be read is reported on stderr with
// its number, answered with an error object, and makes the command exit 1.
func decideBatch(cmd *cobra.Command, s streams, f *callFlags, file string, positional []string) error {
	if f.tool != "" || f.args != "" || f.argsFile != "" {
		return usagef("--batch reads tool and arguments from its lines; leave out --tool, --args and --args-file")
	}
	// pflag takes a separate word after a flag with a default value as an argument.
	if file == "-" && len(positional) == 1 {
		file, positional = positional[0], nil
	}
	if len(positional) > 0 {
		return usagef("unexpected argument %q", positional[0])
	}
	in := s.in
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read batch: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	l, err := f.load(s.err)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.out)
	b := batch{loaded: l, out: out, talk: s.err}
	err = b.run(cmd, in)
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if b.unread > 0 {
		return exitStatus{exitTrouble}
	}
	return nil
}

type batch struct {
	loaded
	out    *bufio.Writer
	talk   io.Writer
	doc    jsonstream.Document
	unread int
}

func (b *batch) run(cmd *cobra.Command, in io.Reader) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		line, err := readLine(reader)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read batch: line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		call, text, err := b.parse(line)
		if err != nil {
			b.unread++
			fmt.Fprintf(b.talk, "stopgate: batch line %d: %v\n", number, err)
			if err := writeJSON(b.out, map[string]any{"line": number, "error": err.Error()}); err != nil {
				return err
			}
			continue
		}
		verdict, err := judge(cmd.Context(), b.loaded, call, text)
		if err != nil {
			return fmt.Errorf("batch line %d: %w", number, err)
		}
		if err := writeJSON(b.out, newAnswer(call, verdict, len(text))); err != nil {
			return err
		}
	}
}

// parse reads {"session","agent","tool","args"|"raw","id","result"?}. args is
// judged as it is spelled on the line; raw is the argument text as received.
func (b *batch) parse(line []byte) (stopgate.Call, []byte, error) {
	if err := b.doc.Scan(line, jsonstream.Options{MaxBytes: maxLine}); err != nil {
		return stopgate.Call{}, nil, err
	}
	root := b.doc.Root()
	if root.Kind() != jsonstream.Object {
		return stopgate.Call{}, nil, fmt.Errorf("want an object, got %s", root.Kind())
	}
	texts := map[string]string{}
	for _, key := range []string{"session", "agent", "tool", "id"} {
		v, ok := root.Get(key)
		switch {
		case !ok || v.Kind() == jsonstream.Null:
		case v.Kind() != jsonstream.String:
			return stopgate.Call{}, nil, fmt.Errorf("%q must be a string", key)
		default:
			texts[key] = v.Text()
		}
	}
	if texts["tool"] == "" {
		return stopgate.Call{}, nil, errors.New(`it has no "tool"`)
	}
	args, hasArgs := root.Get("args")
	raw, hasRaw := root.Get("raw")
	var text []byte
	switch {
	case hasArgs == hasRaw:
		return stopgate.Call{}, nil, errors.New(`give the arguments once, as "args" or as "raw"`)
	case hasRaw && raw.Kind() != jsonstream.String:
		return stopgate.Call{}, nil, errors.New(`"raw" must be the argument text as a string`)
	case hasRaw:
		text = raw.AppendText(nil)
	default:
		text = bytes.Clone(args.Raw())
	}
	name := stopgate.ToolName(texts["tool"])
	return stopgate.Call{
		ID: stopgate.CallID(texts["id"]), Tool: name, Session: stopgate.SessionID(texts["session"]),
		Agent: stopgate.AgentName(texts["agent"]), Surface: stopgate.SurfaceDecide, Definition: definitionOf(b.tools, name),
	}, text, nil
}

// readLine returns one line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}
