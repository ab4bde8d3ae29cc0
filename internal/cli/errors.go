package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/visible"
)

// Exit codes, as in docs/reference/exit-codes.md.
const (
	ExitOK        = 0  // allowed, clean
	ExitTrouble   = 1  // the tool could not do its work
	ExitDenied    = 2  // denied or skipped
	ExitMistakes  = 3  // the policy has mistakes
	ExitUndecided = 4  // a person must answer
	ExitUsage     = 64 // the command line is wrong
)

// exitStatus ends the process with a code after everything has been printed.
type exitStatus struct{ code int }

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Exit returns the error of a command that has printed its answer and ends with a code. It
// is nil for ExitOK.
func Exit(code int) error {
	if code == ExitOK {
		return nil
	}
	return exitStatus{code}
}

// usageError marks a wrong command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef returns the error of a wrong command line; it takes %w.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// hintedError is an error with a remedy.
type hintedError struct {
	error
	hint string
}

func (e hintedError) Unwrap() error { return e.error }

// Hint returns the remedy.
func (e hintedError) Hint() string { return e.hint }

// Hinted adds a remedy to an error.
func Hinted(err error, hint string) error { return hintedError{err, hint} }

// IsHinted reports whether an error has a remedy from hinted.
func IsHinted(err error) bool { return errors.As(err, new(hintedError)) }

// failure is the output of a command with --format json that ends without an answer.
type failure struct {
	Error       string            `json:"error"`
	Hint        string            `json:"hint,omitempty"`
	Diagnostics []diag.Diagnostic `json:"diagnostics,omitempty"`
}

// Report prints why a command ended, for people on standard error and, if JSON was
// wanted, for programs on standard output, and returns the exit code.
func Report(s Streams, cmd *cobra.Command, err error) int {
	var status exitStatus
	if err == nil {
		return ExitOK
	}
	if errors.As(err, &status) {
		return status.code
	}
	f := failure{Error: err.Error()}
	code := ExitTrouble
	var usage usageError
	var hinted interface{ Hint() string }
	var mistakes config.MistakesError
	switch {
	case errors.As(err, &mistakes):
		code = ExitMistakes
		mistakes.List.Sort()
		f.Diagnostics = mistakes.List
		io.WriteString(s.Err, Coloured(s.Err, diag.Text(mistakes.List.Errors(), mistakes.Set.Text)))
	case errors.As(err, &usage), errors.As(err, new(*place.URLError)):
		code = ExitUsage
	}
	switch {
	case errors.As(err, &hinted):
		f.Hint = hinted.Hint()
	case code == ExitUsage && !strings.Contains(f.Error, "--help"):
		f.Hint = cmd.CommandPath() + " --help"
	}
	if mistakes.List == nil {
		io.WriteString(s.Err, Fit(s.Err, fmt.Sprintf("stopgate: %s\n", visible.Lines(f.Error))))
	}
	if f.Hint != "" {
		io.WriteString(s.Err, Fit(s.Err, fmt.Sprintf("hint: %s\n", visible.Lines(f.Hint))))
	}
	if wantsJSON(cmd) {
		if err := WriteJSON(s.Out, f); err != nil {
			fmt.Fprintf(s.Err, "stopgate: %s\n", visible.Lines(err.Error()))
		}
	}
	return code
}

func wantsJSON(cmd *cobra.Command) bool {
	format := cmd.Flags().Lookup("format")
	return format != nil && format.Value.String() == "json"
}

// ListenError adds a remedy to an error of listening on an address.
func ListenError(addr string, err error) error {
	hint := "choose another address with --listen, for example --listen 127.0.0.1:0 for a free port"
	if errors.Is(err, syscall.EADDRINUSE) {
		hint += "; another program listens there, or another stopgate"
	}
	return Hinted(fmt.Errorf("listen on %s: %w", addr, err), hint)
}
