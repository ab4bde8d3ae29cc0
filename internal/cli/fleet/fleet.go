// Package fleet has the commands of signed policy bundles: build, sign, verify, push, rollback, status.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/bundle/channel"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
)

// signatureEnd is added to the name of a bundle for its signature, as minisign does.
const signatureEnd = ".minisig"

// New returns the command bundle.
func New(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "sign policies, and bring them to a fleet of gates",
		Long: `bundle makes signed policy bundles and brings them to a fleet of gates. A bundle has the
files that decisions depend on: policy files, and optionally tools.json with definitions
of tools. Gates fetch it from the channel that [policy] bundle names, verify it with the
keys that [policy] keys lists, and never go back to an older generation.

A bundle and its signature are two files: NAME and NAME.minisig. Keys and signatures are
those of minisign.`,
		Example: `  stopgate bundle build policies -o prod.bundle
  stopgate bundle status --fleet`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBuild(s), newSign(s), newVerify(s), newPush(s), newRollback(s), newStatus(s))
	return cmd
}

// keyFlags name public keys.
type keyFlags struct{ keys []string }

func (f *keyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.keys, "public-key", nil, "public `KEY` of minisign that bundles are signed with: its text, or its file; repeat for more")
}

// parse reads the keys.
func (f *keyFlags) parse() (keys []bundle.PublicKey, err error) {
	for _, text := range f.keys {
		if _, err := os.Stat(text); err == nil {
			data, err := config.ReadFile(text, 1<<10)
			if err != nil {
				return nil, fmt.Errorf("read public key: %w", err)
			}
			text = string(data)
		}
		k, err := bundle.ParsePublicKey(text)
		if err != nil {
			return nil, cli.Usagef("--public-key: %w", err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// channelFlags name the token of a channel.
type channelFlags struct{ env, file string }

func (f *channelFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.env, "token-env", "", "environment `VARIABLE` with the bearer token of a web server")
	cmd.Flags().StringVar(&f.file, "token-file", "", "`FILE` with the bearer token of a web server")
	cmd.MarkFlagsMutuallyExclusive("token-env", "token-file")
}

func (f *channelFlags) open(url string) (channel.Channel, error) {
	c, err := inputs.OpenChannel(url, f.env, f.file)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return c, nil
}

// isURL reports whether a text names a channel, and not a file.
func isURL(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && len(scheme) > 1 && !strings.ContainsAny(scheme, `./\`)
}

// readSigned reads a bundle and its signature from files; without the second the signature is nil.
func readSigned(path string) (s bundle.Signed, err error) {
	if s.Archive, err = config.ReadFile(path, bundle.MaxArchive); err != nil {
		return s, fmt.Errorf("read bundle: %w", err)
	}
	s.Signature, err = config.ReadFile(path+signatureEnd, bundle.MaxSignature)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read signature: %w", err)
	}
	return s, nil
}

// newest returns the newest bundle of a channel, verified with the keys; nil if none was pushed yet.
func newest(ctx context.Context, c channel.Channel, keys []bundle.PublicKey) (*bundle.Bundle, error) {
	ctx, cancel := context.WithTimeout(ctx, inputs.FetchTime)
	defer cancel()
	s, err := c.Fetch(ctx, "")
	if errors.Is(err, bundle.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the newest bundle of %s: %w", c, err)
	}
	b, err := bundle.Open(s.Archive, s.Signature, keys)
	if err != nil {
		return nil, fmt.Errorf("newest bundle of %s: %w", c, err)
	}
	return b, nil
}

// before returns the bundle that --after or --against names: a file, which is yours, or the newest one
// of a channel, which has to be signed. It is nil for an empty channel.
func before(ctx context.Context, name string, keys []bundle.PublicKey, f *channelFlags) (*bundle.Bundle, error) {
	if !isURL(name) {
		data, err := config.ReadFile(name, bundle.MaxArchive)
		if err != nil {
			return nil, fmt.Errorf("read bundle: %w", err)
		}
		return bundle.Read(data)
	}
	if len(keys) == 0 {
		return nil, cli.Usagef("a bundle of a channel is verified first: name its key with --public-key")
	}
	c, err := f.open(name)
	if err != nil {
		return nil, err
	}
	return newest(ctx, c, keys)
}

// line describes a bundle.
func line(b *bundle.Bundle) string {
	text := fmt.Sprintf("generation %d, sha256 %s, %s, created %s", b.Generation, b.Digest, cli.Count(len(b.Files), "file"), b.Created.Format("2006-01-02T15:04:05Z07:00"))
	if b.Previous != nil {
		text += fmt.Sprintf("; canary for %s of the sessions, generation %d for the others", b.Canary, b.Previous.Generation)
	}
	return text
}

// answer is a bundle as JSON; it changes only by addition.
type answer struct {
	Generation uint64   `json:"generation"`
	Digest     string   `json:"digest"`
	Created    string   `json:"created"`
	Files      []string `json:"files"`
	Canary     string   `json:"canary,omitempty"`
	Previous   uint64   `json:"previous,omitempty"` // generation of the other sessions
}

func answerOf(b *bundle.Bundle) answer {
	a := answer{Generation: b.Generation, Digest: b.Digest, Created: b.Created.Format("2006-01-02T15:04:05Z07:00"), Canary: b.Canary.String()}
	for _, f := range b.Files {
		a.Files = append(a.Files, f.Name)
	}
	if b.Previous != nil {
		a.Previous = b.Previous.Generation
	}
	return a
}
