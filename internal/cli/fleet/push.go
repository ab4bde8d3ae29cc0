package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/bundle/channel"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
)

func newVerify(s cli.Streams) *cobra.Command {
	var f keyFlags
	var c channelFlags
	cmd := &cobra.Command{
		Use:   "verify FILE|URL --public-key KEY",
		Short: "verify a bundle as a gate does",
		Long: `verify verifies a bundle and its signature, of a file or the newest one of a channel, reads
it and checks its files, as a gate does before it accepts it.

Exit: 0, 1 if a gate would refuse it, or 3 if a file has mistakes.`,
		Example: "  stopgate bundle verify prod.bundle --public-key fleet.pub",
		Args:    cobra.ExactArgs(1),
	}
	f.add(cmd)
	c.add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys, err := f.parse()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return cli.Usagef("verify wants the key of the signature: --public-key")
		}
		b, _, err := verified(cmd.Context(), args[0], keys, &c)
		if err != nil {
			return err
		}
		if err := check(b); err != nil {
			return err
		}
		return format.Print(s.Out, answerOf(b), "good: "+line(b)+"\n")
	}
	return cmd
}

// verified returns the bundle of a file, or the newest one of a channel.
func verified(ctx context.Context, name string, keys []bundle.PublicKey, f *channelFlags) (*bundle.Bundle, bundle.Signed, error) {
	if !isURL(name) {
		s, err := readSigned(name)
		if err != nil {
			return nil, s, err
		}
		if s.Signature == nil {
			return nil, s, cli.Hinted(fmt.Errorf("%s%s does not exist", name, signatureEnd), "stopgate bundle sign makes it")
		}
		b, err := bundle.Open(s.Archive, s.Signature, keys)
		return b, s, err
	}
	c, err := f.open(name)
	if err != nil {
		return nil, bundle.Signed{}, err
	}
	b, err := newest(ctx, c, keys)
	if err == nil && b == nil {
		err = fmt.Errorf("%s: %w", c, bundle.ErrNone)
	}
	return b, bundle.Signed{}, err
}

func newPush(s cli.Streams) *cobra.Command {
	var f keyFlags
	var c channelFlags
	cmd := &cobra.Command{
		Use:   "push FILE URL --public-key KEY",
		Short: "make a signed bundle the newest one of a channel",
		Long: `push uploads a bundle and its signature to a channel, where gates fetch them: file:PATH, a web
server that takes PUT requests (https://HOST/PATH), or a registry (oci://HOST/REPOSITORY:TAG).
It verifies the signature first, and that the bundle is newer than the one there.

The channel keeps every bundle under its generation, for rollback: as PATH.N, or as tag TAG-N.`,
		Example: "  stopgate bundle push prod.bundle https://policies.example/prod --public-key fleet.pub",
		Args:    cobra.ExactArgs(2),
	}
	f.add(cmd)
	c.add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys, err := f.parse()
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return cli.Usagef("push verifies what it pushes: name the key with --public-key")
		}
		b, signed, err := verified(cmd.Context(), args[0], keys, &c)
		if err != nil {
			return err
		}
		to, err := c.open(args[1])
		if err != nil {
			return err
		}
		if err := push(cmd.Context(), to, b, signed, keys); err != nil {
			return err
		}
		return format.Print(s.Out, answerOf(b), fmt.Sprintf("pushed to %s: %s\n", to, line(b)))
	}
	return cmd
}

// pushTime is how long a push may take.
const pushTime = time.Minute

// push uploads a bundle that is newer than the one in the channel.
func push(ctx context.Context, to channel.Channel, b *bundle.Bundle, s bundle.Signed, keys []bundle.PublicKey) error {
	last, err := newest(ctx, to, keys)
	if err != nil {
		return err
	}
	if last != nil && last.Digest != b.Digest && last.Generation >= b.Generation {
		return cli.Hinted(fmt.Errorf("push generation %d: %s has generation %d, and gates go back to no older one", b.Generation, to, last.Generation),
			"build it again with --after, or go back with stopgate bundle rollback")
	}
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	if err := to.Push(ctx, b.Generation, s); err != nil {
		return fmt.Errorf("push to %s: %w", to, err)
	}
	return nil
}

func newRollback(s cli.Streams) *cobra.Command {
	var f signFlags
	var to uint64
	cmd := &cobra.Command{
		Use:   "rollback URL",
		Short: "bring back the rules of an earlier bundle",
		Long: `rollback takes the rules of an earlier bundle of a channel, signs them as the newest generation,
because gates go back to no older one, and pushes that. Without --to these are the rules of
the generation before the newest one; of a canary, those of the other sessions.

It shows how decisions change, and does not ask.`,
		Example: `  stopgate bundle rollback https://policies.example/prod
  stopgate bundle rollback https://policies.example/prod --to 41`,
		Args: cobra.ExactArgs(1),
	}
	f.secretFlags.add(cmd)
	f.keyFlags.add(cmd)
	f.channelFlags.add(cmd)
	cmd.Flags().Uint64Var(&to, "to", 0, "the `GENERATION` whose rules to bring back")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys, err := f.parse()
		if err != nil {
			return err
		}
		c, err := f.open(args[0])
		if err != nil {
			return err
		}
		key, err := f.read()
		if err != nil {
			return err
		}
		keys = append(keys, key.Public())
		last, err := newest(cmd.Context(), c, keys)
		if err != nil {
			return err
		}
		if last == nil {
			return fmt.Errorf("roll back %s: %w", c, bundle.ErrNone)
		}
		old, err := earlier(cmd.Context(), c, last, to, keys)
		if err != nil {
			return err
		}
		b, err := bundle.Build(bundle.Content{Generation: last.Generation + 1, Created: time.Now(), Files: old.Files})
		if err != nil {
			return err
		}
		if err := check(b); err != nil {
			return err
		}
		f.allowLoosened = true
		if err := f.compare(s.Err, last, b); err != nil {
			return err
		}
		if err := push(cmd.Context(), c, b, bundle.Signed{Archive: b.Archive, Signature: bundle.Sign(b, key)}, keys); err != nil {
			return err
		}
		return format.Print(s.Out, answerOf(b), fmt.Sprintf("%s has the rules of generation %d again: %s\n", c, old.Generation, line(b)))
	}
	return cmd
}

// earlier returns the bundle whose rules to bring back.
func earlier(ctx context.Context, c channel.Channel, last *bundle.Bundle, to uint64, keys []bundle.PublicKey) (*bundle.Bundle, error) {
	switch {
	case to == 0 && last.Previous != nil:
		return last.Previous, nil
	case to == 0:
		to = last.Generation - 1
	case to >= last.Generation:
		return nil, cli.Usagef("--to %d is no earlier generation: the newest is %d", to, last.Generation)
	}
	ctx, cancel := context.WithTimeout(ctx, inputs.FetchTime)
	defer cancel()
	s, err := c.Generation(ctx, to)
	if errors.Is(err, bundle.ErrNone) {
		return nil, cli.Hinted(fmt.Errorf("generation %d of %s: %w", to, c, err), "name another one with --to")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch generation %d of %s: %w", to, c, err)
	}
	b, err := bundle.Open(s.Archive, s.Signature, keys)
	if err != nil {
		return nil, fmt.Errorf("generation %d of %s: %w", to, c, err)
	}
	if b.Generation != to {
		return nil, fmt.Errorf("generation %d of %s is generation %d", to, c, b.Generation)
	}
	return b, nil
}
