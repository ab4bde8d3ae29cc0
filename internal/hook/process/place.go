package process

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/record/jsonl"
)

// openLines opens a file of records, which has one writer at a time: the configured one, or else a
// new one.
func openLines(ctx context.Context, settings place.Settings) (*jsonl.Recorder, error) {
	if settings.AuditFile == "" {
		lines, _, err := settings.OwnLines()
		return lines, err
	}
	for {
		lines, err := settings.Lines(settings.AuditFile)
		if !errors.Is(err, jsonl.ErrInUse) {
			return lines, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// runDir returns the absolute directory in which the commands of a call run if the call names one,
// "" otherwise; lost is set if it is unknown. After ".." only the file system knows it.
func runDir(run, dir string, real func(string) (string, bool)) (there string, lost bool) {
	if run == "" {
		return "", false
	}
	if !path.IsAbs(run) {
		run = dir + "/" + run
	}
	there, ok := real(run)
	if ok && !slices.Contains(strings.Split(run, "/"), "..") {
		there = path.Clean(run)
	}
	return there, !ok
}

// projectDir returns the project directory set by the host, the session's working directory, or
// that of the process. A model may change the second, so the first takes precedence: fromHost
// reports which one it is.
func (c Caller) projectDir(session string) (dir string, fromHost bool, err error) {
	for _, h := range hook.All() {
		if h.ProjectVariable == "" {
			continue
		}
		if dir := c.Env(h.ProjectVariable); filepath.IsAbs(dir) {
			return dir, true, nil
		}
	}
	if filepath.IsAbs(session) {
		return session, false, nil
	}
	dir, err = c.workingDir()
	if err != nil {
		return "", false, fmt.Errorf("find the project: %w", err)
	}
	return dir, false, nil
}
