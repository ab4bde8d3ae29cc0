package evaluate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/trial"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// decideBatch decides every line of a JSON Lines file and writes one answer per
// line, in the same order. A line that cannot be read is reported on stderr with
// its number, answered with an error object, and makes the command exit 1.
func decideBatch(cmd *cobra.Command, s cli.Streams, f *dryrun.Flags, file string, positional []string) error {
	if f.Tool != "" || f.Args != "" || f.ArgsFile != "" {
		return cli.Usagef("--batch reads tool and arguments from its lines; leave out --tool, --args and --args-file")
	}
	if len(f.Texts) > 0 || f.TextsFile != "" {
		return cli.Usagef("--text and --texts are about one call; lines of a batch have \"texts\" of their own: leave them out")
	}
	// pflag takes a separate word after a flag with a default value as an argument.
	if file == "-" && len(positional) == 1 {
		file, positional = positional[0], nil
	}
	if len(positional) > 0 {
		return cli.Usagef("unexpected argument %q", positional[0])
	}
	in := s.In
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read batch: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	at, err := f.Surface(f.Root)
	if err != nil {
		return err
	}
	l, err := at.Find(s.Err, &f.Policy)
	if err != nil {
		return err
	}
	if err := at.Compile(&l, dryrun.Proposal{}); err != nil {
		return err
	}
	out := bufio.NewWriter(s.Out)
	j, err := dryrun.NewDecider(l)
	if err != nil {
		return err
	}
	groups, err := f.KnownGroups()
	if err != nil {
		return err
	}
	b := batch{Decider: j, at: at, server: stopgate.ServerID(f.Server), groups: groups, loaded: l, out: out, talk: s.Err}
	err = b.run(cmd, in)
	// A writer that failed fails again here, with the same error.
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		return err
	}
	if b.unread > 0 {
		return cli.Exit(cli.ExitTrouble)
	}
	return nil
}

// batch decides line after line with one gate, so that a session's later calls are judged by its
// earlier ones.
type batch struct {
	dryrun.Decider
	at     dryrun.Surface
	server stopgate.ServerID
	groups stopgate.Groups
	loaded inputs.Loaded
	last   *hook.Event // for which the policy was compiled
	out    *bufio.Writer
	talk   io.Writer
	doc    jsonstream.Document
	unread int
	told   map[stopgate.SessionID]bool // sessions with texts
}

func (b *batch) run(cmd *cobra.Command, in io.Reader) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		line, err := inputs.ReadLine(reader)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read batch: line %d: %w", number, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := b.line(cmd.Context(), number, line); err != nil {
			return err
		}
	}
}

// line answers one line; its error is one that ends the batch.
func (b *batch) line(ctx context.Context, number int, line []byte) error {
	p, err := b.parse(line)
	if err != nil {
		b.unread++
		fmt.Fprintf(b.talk, "stopgate: batch line %d: %s\n", number, visible.Lines(err.Error()))
		return cli.WriteJSON(b.out, unreadLine{Line: number, Error: err.Error()})
	}
	if p.Unread != nil {
		return cli.WriteJSON(b.out, b.at.Unreadable(p.Proposal, p.size))
	}
	if err := b.move(p.Event); err != nil {
		return fmt.Errorf("batch line %d: %w", number, err)
	}
	b.at.Hide(&p.Proposal, b.Program)
	if p.data != nil {
		if err := b.SetData(ctx, &p.Call, p.data); err != nil {
			return fmt.Errorf("batch line %d: %w", number, err)
		}
	}
	if p.texts != nil {
		trial.Distinguish(p.texts, fmt.Sprintf("line %d, text ", number))
		if err := b.AddTexts(ctx, &p.Call, p.texts, !b.told[p.Call.Session]); err != nil {
			return fmt.Errorf("batch line %d: %w", number, err)
		}
		if b.told == nil {
			b.told = map[stopgate.SessionID]bool{}
		}
		b.told[p.Call.Session] = true
	}
	var verdict stopgate.Verdict
	if p.ran {
		verdict, err = b.Replay(ctx, p.Call, p.Args, p.result)
	} else {
		verdict, err = b.Decide(ctx, p.Call, p.Args)
	}
	if err != nil {
		return fmt.Errorf("batch line %d: %w", number, err)
	}
	return cli.WriteJSON(b.out, b.at.Answers(b.Answer(p.Call, verdict, p.size), p.Proposal, verdict, jsonstream.Value{}, b.Program))
}

// parseTexts reads the texts of a session since its call before.
func parseTexts(v jsonstream.Value, session string) (list []gate.Text, err error) {
	switch {
	case v.Kind() != jsonstream.Array:
		return nil, fmt.Errorf("\"texts\" must be an array, not %s", v.Kind())
	case session == "":
		return nil, errors.New(`"texts" are of a "session": name it`)
	}
	list = []gate.Text{}
	for element := range v.Elements() {
		one, err := trial.ParseText(bytes.Clone(element.Raw()))
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", len(list)+1, err)
		}
		list = append(list, one)
	}
	return list, nil
}

// move compiles the policy again where the commands of the next call run elsewhere.
func (b *batch) move(next *hook.Event) error {
	if !b.at.RunsElsewhere(b.last, next) {
		return nil
	}
	if err := b.at.Compile(&b.loaded, dryrun.Proposal{Event: next}); err != nil {
		return err
	}
	b.last, b.Program = next, b.loaded.Program
	return b.Gate.Swap(b.Program)
}

// unreadLine is the answer to a line that cannot be read.
type unreadLine struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// batchLine is one line.
type batchLine struct {
	dryrun.Proposal
	size   int  // of the arguments in the line
	ran    bool // the line has a result
	result []byte
	data   []byte // nil: the session's data stay
	texts  []gate.Text
}

// parse reads {"session","agent","tool","args"|"raw","id","result"?,"texts"?}. args is
// judged as it is spelled on the line; raw is the argument text as received.
func (b *batch) parse(line []byte) (batchLine, error) {
	if err := b.doc.Scan(line, jsonstream.Options{MaxBytes: inputs.MaxLine}); err != nil {
		return batchLine{}, err
	}
	root := b.doc.Root()
	if root.Kind() != jsonstream.Object {
		return batchLine{}, fmt.Errorf("want an object, got %s", root.Kind())
	}
	texts := map[string]string{}
	for _, key := range []string{"session", "agent", "tool", "id"} {
		v, ok := root.Get(key)
		switch {
		case !ok || v.Kind() == jsonstream.Null:
		case v.Kind() != jsonstream.String:
			return batchLine{}, fmt.Errorf("%q must be a string", key)
		default:
			texts[key] = v.Text()
		}
	}
	if texts["tool"] == "" {
		return batchLine{}, errors.New(`it has no "tool"`)
	}
	args, hasArgs := root.Get("args")
	raw, hasRaw := root.Get("raw")
	var text []byte
	switch {
	case hasArgs == hasRaw:
		return batchLine{}, errors.New(`give the arguments once, as "args" or as "raw"`)
	case hasRaw && raw.Kind() != jsonstream.String:
		return batchLine{}, errors.New(`"raw" must be the argument text as a string`)
	case hasRaw:
		text = raw.AppendText(nil)
	default:
		text = bytes.Clone(args.Raw())
	}
	name := stopgate.ToolName(texts["tool"])
	made, err := b.at.Proposes(stopgate.Call{
		ID: stopgate.CallID(texts["id"]), Tool: name, Session: stopgate.SessionID(texts["session"]),
		Agent: stopgate.AgentName(texts["agent"]), Server: b.server, Groups: b.groups,
	}, text, b.loaded.Tools)
	if err != nil {
		return batchLine{}, err
	}
	p := batchLine{Proposal: made, size: len(text)}
	if result, ok := root.Get("result"); ok {
		p.ran, p.result = true, bytes.Clone(result.Raw())
	}
	if v, ok := root.Get("texts"); ok {
		if p.texts, err = parseTexts(v, texts["session"]); err != nil {
			return batchLine{}, err
		}
	}
	if data, ok := root.Get("session_data"); ok && data.Kind() != jsonstream.Object {
		return batchLine{}, fmt.Errorf("\"session_data\" must be an object, not %s", data.Kind())
	} else if ok {
		p.data = bytes.Clone(data.Raw())
	}
	return p, nil
}
