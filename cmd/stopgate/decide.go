package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
)

func newDecide(s streams) *cobra.Command {
	var f callFlags
	var batch string
	cmd := &cobra.Command{
		Use:   "decide --tool NAME --args JSON",
		Short: "decide one call, or a batch of calls",
		Long: `decide says what the policy does with a call: its mode, why, and at which byte of
the arguments that was certain. Nobody is asked: ask and edit are reported.

Exit: 0 unattended, 2 deny or skip, 4 ask or edit, 3 policy mistakes.`,
		Example: `  stopgate decide --policy stopgate.toml --tool fs_read_file --args '{"path":"src/a.go"}'
  stopgate decide --batch calls.jsonl --format json`,
		Args: cobra.MaximumNArgs(1),
	}
	f.add(cmd)
	cmd.Flags().StringVar(&batch, "batch", "", "decide every line of a JSON Lines `FILE` (- or nothing: standard input)")
	cmd.Flags().Lookup("batch").NoOptDefVal = "-"
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("batch") {
			return decideBatch(cmd, s, &f, batch, args)
		}
		call, err := f.call(nil)
		if err != nil {
			return err
		}
		text, err := f.arguments(cmd, args, s.in)
		if err != nil {
			return err
		}
		l, err := f.load(s.err)
		if err != nil {
			return err
		}
		call.Definition = definitionOf(l.tools, call.Tool)
		verdict, err := judge(cmd.Context(), l, call, text)
		if err != nil {
			return err
		}
		answer := newAnswer(call, verdict, len(text))
		if *format == "json" {
			err = writeJSON(s.out, answer)
		} else {
			_, err = io.WriteString(s.out, answer.text())
		}
		if err != nil {
			return err
		}
		return verdictStatus(verdict)
	}
	return cmd
}

// answer is the contract of decide's JSON output; it changes only by addition.
type answer struct {
	ID        stopgate.CallID    `json:"id"`
	Tool      stopgate.ToolName  `json:"tool"`
	Mode      stopgate.Mode      `json:"mode"`
	Layer     stopgate.Layer     `json:"layer"`
	Code      stopgate.Code      `json:"code"`
	Rule      *answerRule        `json:"rule"`
	Pointer   string             `json:"pointer"`
	DecidedAt int64              `json:"decided_at"`
	Bytes     int                `json:"bytes"`
	Public    string             `json:"public"`
	Session   stopgate.SessionID `json:"session"`
	// Candidates are the rules of which one decided, when they all agree (K9).
	Candidates []int `json:"candidates,omitempty"`
	// Floors are the lower bounds that values raised.
	Floors []stopgate.Floor `json:"floors,omitempty"`
}

type answerRule struct {
	File  string `json:"file"`
	Line  int    `json:"line"`
	Index int    `json:"index"`
}

func newAnswer(call stopgate.Call, v stopgate.Verdict, size int) answer {
	a := answer{
		ID: call.ID, Tool: call.Tool, Mode: v.Mode, Layer: v.Layer, Code: v.Code, Pointer: v.Pointer,
		DecidedAt: v.DecidedAt, Bytes: size, Public: v.Public, Session: call.Session,
		Candidates: v.Candidates, Floors: v.Floors,
	}
	if v.Rule != nil {
		a.Rule = &answerRule{File: v.Rule.File, Line: v.Rule.Line, Index: v.Rule.Index}
	}
	return a
}

func (a answer) text() string {
	out := fmt.Sprintf("%s: %s (%s)\n", a.Mode, a.Public, a.Code)
	if a.Rule != nil {
		kind := "rule"
		if a.Layer == stopgate.LayerGuard {
			kind = "guard"
		}
		out += fmt.Sprintf("  %-9s %s:%d, the list's number %d\n", kind, a.Rule.File, a.Rule.Line, a.Rule.Index+1)
	} else {
		out += fmt.Sprintf("  layer     %s\n", a.Layer)
	}
	if a.Pointer != "" {
		out += fmt.Sprintf("  argument  %s\n", visible(a.Pointer))
	}
	return out + fmt.Sprintf("  decided   at byte %d of %d\n", a.DecidedAt, a.Bytes)
}

func verdictStatus(v stopgate.Verdict) error {
	switch v.Mode {
	case stopgate.Unattended:
		return nil
	case stopgate.Ask, stopgate.Edit:
		return exitStatus{exitUndecided}
	}
	return exitStatus{exitDenied}
}

// writeJSON writes one line of JSON, without HTML escapes.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
