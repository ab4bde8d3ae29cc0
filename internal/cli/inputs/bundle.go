package inputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/bundle/channel"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/internal/visible"
)

// FetchTime is how long one question to a channel may take.
const FetchTime = 15 * time.Second

// Fetcher returns the function that fetches bundles of a channel.
func Fetcher(s bundles.Settings) bundles.Fetch {
	return func(ctx context.Context, tag string) (bundle.Signed, error) {
		c, err := OpenChannel(s.Channel, s.TokenEnv, s.TokenFile)
		if err != nil {
			return bundle.Signed{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, FetchTime)
		defer cancel()
		return c.Fetch(ctx, tag)
	}
}

// OpenChannel opens a channel with a token from a variable or a file; both are "" for none.
func OpenChannel(url, env, file string) (channel.Channel, error) {
	var o channel.Options
	if env != "" || file != "" {
		var err error
		if o.Token, err = secret.Machine().Text(env, file); err != nil {
			return nil, fmt.Errorf("token of the channel: %w", err)
		}
	}
	return channel.Open(url, o)
}

// Keeper returns the keeper of the bundle that the policy was loaded with, nil for none.
func (f *Policy) Keeper() *bundles.Keeper { return f.keeper }

// startTime is how long a program that begins waits for the channel if it has a good bundle.
const startTime = 3 * time.Second

// addBundle adds the bundle that the operator's files name. A program that begins asks the channel if no
// other one did just now; running gates ask it in the background.
func (f *Policy) addBundle(talk io.Writer, l *Loaded) error {
	settings, ok, err := bundles.Of(l.Set)
	switch {
	case err != nil:
		return err
	case f.Again && (f.keeper == nil && ok || f.keeper != nil && ok && !reflect.DeepEqual(f.keeper.Settings, settings)):
		return cli.Hinted(errors.New("the table [policy] changed"), "restart the gate to follow another channel, or other keys")
	case !ok:
		return nil
	}
	if f.keeper == nil {
		if f.keeper, err = bundles.New(settings, config.Account{}, Fetcher(settings)); err != nil {
			return err
		}
	}
	l.keeper = f.keeper
	local := l.Set
	if _, err := f.keeper.Add(local); err == nil && !f.Again && f.keeper.Due() {
		ctx, cancel := context.WithTimeout(context.Background(), startTime)
		defer cancel()
		if err := f.keeper.Poll(ctx); err != nil {
			fmt.Fprintf(talk, "stopgate: the last good policy bundle stays in force: %s\n", visible.Text(err.Error()))
		}
	}
	l.Set, err = f.keeper.Add(local)
	if errors.Is(err, bundle.ErrNone) {
		if err := f.keeper.Poll(context.Background()); err != nil {
			return cli.Hinted(err, "no policy is in force before the first bundle was accepted: stopgate bundle verify tells more about it")
		}
		l.Set, err = f.keeper.Add(local)
	}
	return err
}

// tools returns the definitions of tools of --tools, else those of the bundle.
func (f *Policy) tools(set config.Set) ([]stopgate.ToolDefinition, error) {
	if f.Tools == "" && set.Rollout != nil {
		if text, ok := set.Rollout.Bundle.File(bundle.ToolsFile); ok {
			return ParseTools(bundle.ToolsFile, text)
		}
	}
	return ReadTools(f.Tools)
}

// compileRollout compiles the files, and in a roll-out in steps those of the other sessions.
func compileRollout(set config.Set, o policy.Options) (*policy.Program, error) {
	o.Rollout = policy.Rollout{}
	if r := set.Rollout; r != nil {
		o.Rollout.Bundle = r.Ref()
	}
	if previous, ok := set.Previous(); ok {
		before, err := compileRollout(previous, o)
		if err != nil {
			return nil, err
		}
		o.Rollout.Previous, o.Rollout.Reached = before, set.Rollout.Reached
	}
	program, mistakes := prove.Compile(set.Sources(), o)
	if program == nil || mistakes.HasErrors() {
		return nil, config.MistakesError{List: mistakes, Set: set}
	}
	return program, nil
}
