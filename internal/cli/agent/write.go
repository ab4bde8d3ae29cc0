package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/cli/amend"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/visible"
)

// plan returns the change that adds a rule to the user's own file, and to no other (S52, K35).
// It fails where the rule would not permit the call, or would permit more than it.
func (f *front) plan(v gate.View, rule string) (tui.Plan, error) {
	r := f.agentRun
	r.swap.Lock()
	defer r.swap.Unlock()
	before := r.current.Load()
	own, fresh, err := r.ownFile()
	if err != nil {
		return tui.Plan{}, err
	}
	at, err := placeOf(v.Verdict, own)
	if err != nil {
		return tui.Plan{}, err
	}
	change, err := amend.Before(own.Path, own.Text, v.Call.Tool, rule, at)
	if err != nil {
		return tui.Plan{}, err
	}
	definition := stopgate.ToolDefinition{Name: v.Call.Tool}
	if v.Call.Definition != nil {
		definition = *v.Call.Definition
	}
	change, notes, err := change.Prove(definition)
	if err != nil {
		return tui.Plan{}, err
	}
	path, program, set, err := r.amended(own, fresh, change.Text, v)
	if err != nil {
		return tui.Plan{}, err
	}
	p := tui.Plan{File: path, Diff: textdiff.Unified(path, string(own.Text), string(change.Text)), Notes: notes}
	if change.Copied != "" {
		p.Notes = append(p.Notes, fmt.Sprintf("the list of [tools.%q.policy], which other tools share, is copied for this tool and does not hold for it any more", change.Copied))
	}
	if fresh {
		p.Notes = append(p.Notes, "the file is not there yet: it becomes the built-in policy with this change, and holds in all your projects")
	}
	p.Write = func() (kept string, err error) {
		r.swap.Lock()
		defer r.swap.Unlock()
		if r.current.Load() != before {
			return "", errors.New("the policy has changed meanwhile; nothing was written: answer again")
		}
		if kept, err = replaceOwn(path, own.Text, change.Text, fresh); err != nil {
			return "", err
		}
		if err := f.gate.Swap(program); err != nil {
			return kept, fmt.Errorf("the file is written, but holds from the next start on only: %w", err)
		}
		r.Set = set
		r.current.Store(program)
		return kept, nil
	}
	return p, nil
}

// ownFile returns the user's own policy file, or, where no trusted file applies, the built-in
// one, which becomes the user's.
func (r *agentRun) ownFile() (own config.File, fresh bool, err error) {
	for _, file := range r.Set.Files {
		switch file.Scope {
		case config.User:
			return file, false, nil
		case config.Embedded:
			return file, true, nil
		}
	}
	if len(r.flags.Files) > 0 {
		return own, false, errors.New("--policy names the files of this run: add the rule there")
	}
	return own, false, errors.New("you have no policy file of your own, and what asks stands in the project's: that is changed by hand")
}

// placeOf returns the position of the rule in its list: before the rule that asks, or at the end
// where none matched.
func placeOf(v stopgate.Verdict, own config.File) (at int, err error) {
	switch {
	case len(v.Floors) > 0:
		return 0, fmt.Errorf("no rule changes this question: %s", v.Floors[0].Code.Public())
	case v.Rule == nil && v.Code == stopgate.CodeNoRuleMatched:
		return amend.End, nil
	case v.Rule == nil || v.Layer != stopgate.LayerRules:
		return 0, fmt.Errorf("no rule changes this question: it comes from the layer %s", v.Layer)
	case v.Rule.File != own.Path:
		return 0, fmt.Errorf("what asks stands in %s, and a rule elsewhere does not loosen it", v.Rule.File)
	}
	return v.Rule.Index, nil
}

// amended is the policy with the new text, if the call runs under it.
func (r *agentRun) amended(own config.File, fresh bool, text []byte, v gate.View) (path string, program *policy.Program, set config.Set, err error) {
	set = r.Set
	set.Files = slices.Clone(set.Files)
	path = own.Path
	if fresh {
		if path = config.Standard(r.dir).UserFile(); path == "" {
			return "", nil, set, errors.New("there is no directory for your settings")
		}
	}
	for i := range set.Files {
		if set.Files[i].Scope == own.Scope {
			set.Files[i].Text, set.Files[i].Path, set.Files[i].Scope = text, path, config.User
		}
	}
	l, options := inputs.Loaded{Set: set}, r.optionsOf(set)
	options.Definitions = r.Tools
	if err := l.Compile(options); err != nil {
		return "", nil, set, err
	}
	e := l.Program.Bind(v.Call).Evaluate()
	e.Feed([]byte(v.Args))
	now := e.Close(stopgate.Ended)
	if now.Mode != stopgate.Unattended {
		where := string(now.Code)
		if now.Rule != nil {
			where = fmt.Sprintf("%s:%d", now.Rule.File, now.Rule.Line)
		}
		return "", nil, set, fmt.Errorf("the call would still be asked about: %s", where)
	}
	return path, l.Program, set, nil
}

// replaceOwn replaces the file atomically if it is unchanged, and keeps its old text next to it.
func replaceOwn(path string, before, after []byte, fresh bool) (kept string, err error) {
	if fresh {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		return "", create(path, after)
	}
	now, err := config.ReadFile(path, config.MaxFile)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(now, before) {
		return "", fmt.Errorf("%s has changed since the agent read it; nothing was written", visible.Text(path))
	}
	kept = path + ".stopgate-" + time.Now().UTC().Format("20060102T150405Z") + ".bak"
	if err := create(kept, before); err != nil {
		return "", fmt.Errorf("keep the old file: %w", err)
	}
	return kept, atomicfile.Rewrite(path, after)
}

// create writes a new file that only the user can read.
func create(path string, text []byte) error {
	err := atomicfile.Create(path, text, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; nothing was written", visible.Text(path))
	}
	return err
}
