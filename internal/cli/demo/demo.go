package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	_ "embed"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/visible"
)

//go:embed demo.toml
var Policy []byte

// demoFile is how the demo's policy is called where a file name is wanted.
const demoFile = "demo.toml"

func New(s cli.Streams) *cobra.Command {
	var pace float64
	var showPolicy bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "play a coding session through the running gate",
		Long: `demo starts the real gateway in front of a replay model and plays a coding session
through it. It shows for each call the verdict, why, at which byte of the
arguments it was certain, and what the model did not have to write any more.
No key and no network is needed.`,
		Example: "  stopgate demo --pace 40",
		Args:    cli.NoArgs,
	}
	cmd.Flags().BoolVar(&showPolicy, "show-policy", false, "print the demo's policy and do nothing else")
	cmd.Flags().Float64Var(&pace, "pace", 2000, "tokens per second of the replay model; 0 is as fast as possible")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if showPolicy {
			_, err := s.Out.Write(Policy)
			return err
		}
		if !(pace >= 0) { // NaN too
			return cli.Usagef("--pace counts tokens per second, not %v", pace)
		}
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		var view demoView = newDemoText(s.Out)
		if *format == "json" {
			view = &demoJSON{out: s.Out}
		}
		return demo(ctx, view, pace)
	}
	return cmd
}

// demoRow is the record of one call.
type demoRow struct {
	Turn int `json:"turn"`
	stopgate.Record
}

// demoTurn is one response of the model.
type demoTurn struct {
	number int
	script script.Turn
	rows   []demoRow
	calls  []demoCall
	report replay.Report
}

// demoCall is a call of the script and its record.
type demoCall struct {
	row  stopgate.Record
	args string // all of them, as the script has them
	why  string // the reason of the verdict, for people
}

// demoCalls finds the calls of a turn that rows are about. The gate records a refusal at its
// byte, and a permitted call when the turn is complete.
func demoCalls(program *policy.Program, script script.Turn, rows []demoRow) []demoCall {
	var calls []demoCall
	for _, c := range script.Calls {
		at := slices.IndexFunc(rows, func(r demoRow) bool {
			refused := r.Status != stopgate.RecordStatus("allowed")
			return string(r.Tool) == c.Tool && (refused && r.ArgsBytes <= int64(len(c.Args)) || r.ArgsBytes == int64(len(c.Args)))
		})
		if at < 0 {
			continue // the model was stopped before it
		}
		row := rows[at].Record
		rows = slices.Concat(rows[:at], rows[at+1:])
		evaluation := program.Bind(stopgate.Call{Tool: row.Tool}).Evaluate()
		verdict := evaluation.Feed([]byte(c.Args))
		calls = append(calls, demoCall{row, c.Args, verdict.Public})
	}
	return calls
}

// demo runs the session: gateway, replay model and a client that repeats the
// script's text as its history, so that the script advances.
func demo(ctx context.Context, view demoView, pace float64) error {
	program, mistakes := prove.Compile([]policy.Source{{Name: demoFile, Text: Policy, Trusted: true}}, policy.Options{})
	if program == nil {
		return fmt.Errorf("the demo's policy: %w", mistakes.Err())
	}
	scenarios, err := replay.Scenarios()
	if err != nil {
		return err
	}
	script := scenarios[0]
	reports := make(chan replay.Report, 1)
	model, err := replay.New(replay.Options{
		Scenarios: scenarios, TokensPerSecond: pace,
		Progress: func(r replay.Report) { view.progress(r.Generated) },
		Ended:    func(r replay.Report) { reports <- r },
	})
	if err != nil {
		return err
	}
	var rows demoRecorder
	g, err := gate.New(program, gate.WithRecorder(&rows), gate.WithStore(kinds.Memory()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return err
	}
	settings := gateway.DefaultSettings()
	settings.Listen = "127.0.0.1:0"
	gw, err := gateway.New(gateway.Options{Gate: g, Replay: replay.Transport(model), Settings: settings})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", settings.Listen)
	if err != nil {
		return cli.ListenError(settings.Listen, err)
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- gw.Serve(serving, ln) }()
	defer func() { stop(); <-served }()

	url := "http://" + ln.Addr().String()
	view.begin(url)
	client := demoClient{url: url + "/v1/chat/completions", model: script.Model}
	var sum demoSum
	for i, turn := range script.Turns {
		t := demoTurn{number: i + 1, script: turn}
		view.listen(t)
		if err := client.ask(ctx); err != nil {
			return err
		}
		client.history = append(client.history, chatMessage{"assistant", turn.Say}, chatMessage{"user", "Go on."})
		select {
		case t.report = <-reports:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, r := range rows.take() {
			t.rows = append(t.rows, demoRow{t.number, r})
		}
		t.calls = demoCalls(program, turn, t.rows)
		sum.add(t)
		if err := view.turn(t); err != nil {
			return err
		}
	}
	return view.end(sum)
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// demoClient is an agent that asks for the next turn and reads the answer.
type demoClient struct {
	url, model string
	history    []chatMessage
}

func (c *demoClient) ask(ctx context.Context) error {
	messages := append([]chatMessage{{"user", "Trim the name in the greeting and add a table of greetings."}}, c.history...)
	body, err := json.Marshal(map[string]any{"model": c.model, "stream": true, "messages": messages, "tools": demoTools()})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the replay model: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s: %s", resp.Status, visible.Text(string(answer)))
	}
	if err == nil && !bytes.HasSuffix(answer, []byte("data: [DONE]\n\n")) {
		err = errors.New("the answer has no end")
	}
	if err != nil {
		return fmt.Errorf("ask the replay model: %w", err)
	}
	return nil
}

// demoTools declares the script's tools the way a client does.
func demoTools() []any {
	var tools []any
	for name, params := range map[string][]string{
		"fs_read_file": {"path"}, "fs_create_file": {"path", "content"},
		"fs_modify_file": {"path", "old_string", "new_string"}, "run_command": {"command"},
	} {
		properties := map[string]any{}
		for _, p := range params {
			properties[p] = map[string]string{"type": "string"}
		}
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": name, "parameters": map[string]any{"type": "object", "properties": properties, "required": params},
		}})
	}
	return tools
}
