package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/visible"
)

// exitStatus ends the process with a code after everything has been printed.
type exitStatus struct{ code int }

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// exit returns the error of a command that has printed its answer and ends with a code. It
// is nil for exitOK.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return exitStatus{code}
}

// usageError marks a wrong command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef returns the error of a wrong command line; it takes %w.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// hintedError is an error with a remedy.
type hintedError struct {
	error
	hint string
}

func (e hintedError) Unwrap() error { return e.error }

// Hint returns the remedy.
func (e hintedError) Hint() string { return e.hint }

// hinted adds a remedy to an error.
func hinted(err error, hint string) error { return hintedError{err, hint} }

// isHinted reports whether an error has a remedy from hinted.
func isHinted(err error) bool { return errors.As(err, new(hintedError)) }

// failure is what a command with --format json writes on standard output when it
// ends without an answer.
type failure struct {
	Error       string            `json:"error"`
	Hint        string            `json:"hint,omitempty"`
	Diagnostics []diag.Diagnostic `json:"diagnostics,omitempty"`
}

// report prints why a command ended, for people on standard error and, if JSON was
// wanted, for programs on standard output, and returns the exit code.
func report(s streams, cmd *cobra.Command, err error) int {
	var status exitStatus
	if err == nil {
		return exitOK
	}
	if errors.As(err, &status) {
		return status.code
	}
	f := failure{Error: err.Error()}
	code := exitTrouble
	var usage usageError
	var hinted interface{ Hint() string }
	var mistakes config.MistakesError
	switch {
	case errors.As(err, &mistakes):
		code = exitMistakes
		mistakes.List.Sort()
		f.Diagnostics = mistakes.List
		io.WriteString(s.err, diag.Text(mistakes.List.Errors(), mistakes.Set.Text))
	case errors.As(err, &usage), errors.As(err, new(*place.URLError)):
		code = exitUsage
	}
	if errors.As(err, &hinted) {
		f.Hint = hinted.Hint()
	}
	if mistakes.List == nil {
		fmt.Fprintf(s.err, "stopgate: %s\n", visible.Lines(f.Error))
	}
	if f.Hint != "" {
		fmt.Fprintf(s.err, "hint: %s\n", visible.Lines(f.Hint))
	}
	if wantsJSON(cmd) {
		if err := writeJSON(s.out, f); err != nil {
			fmt.Fprintf(s.err, "stopgate: %s\n", visible.Lines(err.Error()))
		}
	}
	return code
}

func wantsJSON(cmd *cobra.Command) bool {
	format := cmd.Flags().Lookup("format")
	return format != nil && format.Value.String() == "json"
}
