package playground

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/trial"
	"github.com/stopgate/stopgate/jsonstream"
)

// earlier is one line of what came before a call in its session: a text, or a call.
type earlier struct {
	text   *gate.Text // nil: a call
	call   stopgate.Call
	args   []byte
	ran    bool // the call has a result
	result []byte
}

// parseBefore reads JSON Lines as the flag --texts and a batch of the command decide have them:
//
//	{"source":"user","text":"Write to ann@example.com"}
//	{"tool":"lookup","args":{"order":"A-17"},"result":{"total":80}}
//
// A line with a tool and a text is the text of a result; a line with a tool and arguments is a call
// that is decided, and ran if it has a result.
func parseBefore(text []byte) (list []earlier, err error) {
	if len(text) > MaxBefore {
		return nil, fmt.Errorf("what came before has %d bytes, and the playground takes %d", len(text), MaxBefore)
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		one, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if list = append(list, one); len(list) > maxLines {
			return nil, fmt.Errorf("line %d: the playground takes %d lines", i+1, maxLines)
		}
	}
	return list, nil
}

func parseLine(line []byte) (e earlier, err error) {
	root, err := jsonstream.Parse(line, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return e, err
	}
	args, hasArgs := root.Get("args")
	raw, hasRaw := root.Get("raw")
	_, isText := root.Get("text")
	_, isSource := root.Get("source")
	if isText || isSource {
		one, err := trial.ParseText(line)
		return earlier{text: &one}, err
	}
	for key := range root.Members() {
		switch key.Text() {
		case "tool", "args", "raw", "result":
		default:
			return e, fmt.Errorf("there is no member %q; a text has source, text, tool and failed, a call has tool, args or raw, and result", key.Text())
		}
	}
	tool, _ := root.Get("tool")
	switch {
	case tool.Kind() != jsonstream.String || tool.Text() == "":
		return e, errors.New(`a call has a "tool"`)
	case hasArgs == hasRaw:
		return e, errors.New(`give the arguments once, as "args" or as "raw"`)
	case hasRaw && raw.Kind() != jsonstream.String:
		return e, errors.New(`"raw" must be the argument text as a string`)
	case hasRaw:
		e.args = raw.AppendText(nil)
	default:
		e.args = bytes.Clone(args.Raw())
	}
	e.call = callOf(tool.Text())
	if result, ok := root.Get("result"); ok {
		e.ran, e.result = true, bytes.Clone(result.Raw())
	}
	return e, nil
}

// callOf is a call of a tool in the session of the playground.
func callOf(tool string) stopgate.Call {
	return stopgate.Call{Tool: stopgate.ToolName(tool), Session: Session, Surface: stopgate.SurfaceDecide}
}

// Session is the session of all calls.
const Session = "playground"

// replay brings a session to the state before the call.
func replay(ctx context.Context, j trial.Decider, list []earlier) error {
	first := true
	for i := range list {
		e := &list[i]
		if e.text != nil {
			texts := []gate.Text{*e.text}
			trial.Distinguish(texts, fmt.Sprintf("line %d, text ", i+1))
			call := callOf("")
			if err := j.AddTexts(ctx, &call, texts, first); err != nil {
				return fmt.Errorf("text %d: %w", i+1, err)
			}
			first = false
			continue
		}
		var err error
		if e.ran {
			_, err = j.Replay(ctx, e.call, e.args, e.result)
		} else {
			_, err = j.Decide(ctx, e.call, e.args)
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}
