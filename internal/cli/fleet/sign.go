package fleet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// secretFlags name the key that signs.
type secretFlags struct{ key, password string }

func (f *secretFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.key, "key", "", "`FILE` with the secret key of minisign (default: ~/.minisign/minisign.key)")
	cmd.Flags().StringVar(&f.password, "password-file", "", "`FILE` with the password of the key; without it you are asked")
}

// read reads the key, and asks for its password if it needs one.
func (f *secretFlags) read() (k bundle.SecretKey, err error) {
	path := f.key
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return k, fmt.Errorf("find the secret key: %w", err)
		}
		path = home + "/.minisign/minisign.key"
	}
	text, err := secret.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return k, cli.Hinted(fmt.Errorf("read secret key: %w", err), "minisign -G makes a pair of keys, or name one with --key")
	}
	if err != nil {
		return k, fmt.Errorf("read secret key: %w", err)
	}
	password := ""
	if bundle.Encrypted(text) {
		if password, err = f.askPassword(path); err != nil {
			return k, err
		}
	}
	if k, err = bundle.ParseSecretKey(text, password); err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

func (f *secretFlags) askPassword(path string) (string, error) {
	if f.password != "" {
		text, err := secret.Machine().Text("", f.password)
		if err != nil {
			return "", fmt.Errorf("password of the key: %w", err)
		}
		return text, nil
	}
	t, err := cli.OpenTerminal("name a file with the password: --password-file")
	if err != nil {
		return "", err
	}
	defer t.Close()
	return t.Password(fmt.Sprintf("Password of %s: ", path))
}

type signFlags struct {
	secretFlags
	keyFlags
	channelFlags
	against       string
	allowLoosened bool
}

func (f *signFlags) add(cmd *cobra.Command) {
	f.secretFlags.add(cmd)
	f.keyFlags.add(cmd)
	f.channelFlags.add(cmd)
	cmd.Flags().BoolVar(&f.allowLoosened, "allow-loosened", false, "sign although calls are decided more loosely than before, or it cannot be shown that none are")
}

func newSign(s cli.Streams) *cobra.Command {
	var f signFlags
	cmd := &cobra.Command{
		Use:   "sign FILE --against FILE|URL",
		Short: "sign a bundle with a key of minisign",
		Long: `sign signs a bundle: it writes FILE.minisig, which minisign -V verifies. The trusted comment
of the signature names generation and digest.

Before that it compares the bundle with the one before: --against names its file, the URL of
the channel, whose newest bundle is verified with your key and those of --public-key, or none,
for the first one. As diff --fail-on loosened it refuses to sign what decides any call more
loosely, or what cannot be compared, without --allow-loosened. Generations have to rise.

A key with a password needs a gigabyte of memory for a moment: that is how minisign protects it.

Exit: 0, or 3 if calls are loosened.`,
		Example: `  stopgate bundle sign prod.bundle --against https://policies.example/prod
  stopgate bundle sign prod.bundle --against none --key fleet.key`,
		Args: cobra.ExactArgs(1),
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.against, "against", "", "the bundle before: a `FILE`, the URL of a channel, or none")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.against == "" {
			return cli.Usagef("sign compares with the bundle before: --against FILE, URL or none")
		}
		data, err := config.ReadFile(args[0], bundle.MaxArchive)
		if err != nil {
			return fmt.Errorf("read bundle: %w", err)
		}
		b, err := bundle.Read(data)
		if err != nil {
			return err
		}
		if err := check(b); err != nil {
			return err
		}
		key, err := f.read()
		if err != nil {
			return err
		}
		var last *bundle.Bundle
		if f.against != "none" {
			keys, err := f.parse()
			if err != nil {
				return err
			}
			if last, err = before(cmd.Context(), f.against, append(keys, key.Public()), &f.channelFlags); err != nil {
				return err
			}
		}
		if err := f.compare(s.Err, last, b); err != nil {
			return err
		}
		if err := atomicfile.Replace(args[0]+signatureEnd, bundle.Sign(b, key), 0o644); err != nil {
			return fmt.Errorf("write signature: %w", err)
		}
		return format.Print(s.Out, answerOf(b), "signed with key "+key.Public().ID()+": "+line(b)+"\n")
	}
	return cmd
}

// compare refuses a bundle that is not newer, or that loosens.
func (f *signFlags) compare(talk io.Writer, last, b *bundle.Bundle) error {
	if last == nil {
		return nil
	}
	if b.Generation <= last.Generation {
		return cli.Hinted(fmt.Errorf("generation %d is not newer than generation %d: gates would refuse it", b.Generation, last.Generation), "build it with --after")
	}
	loosened, err := differences(talk, last, b)
	if err != nil || len(loosened) == 0 {
		return err
	}
	if f.allowLoosened {
		fmt.Fprintf(talk, "stopgate: signed although: %s\n", strings.Join(loosened, "; "))
		return nil
	}
	fmt.Fprintf(talk, "stopgate: not signed: %s\n  sign it with --allow-loosened if that is meant\n", strings.Join(loosened, "; "))
	return cli.Exit(cli.ExitMistakes)
}
