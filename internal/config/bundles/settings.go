package bundles

import (
	"errors"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// defaultEvery is the interval at which a channel is asked, minEvery the shortest.
const (
	defaultEvery = 10 * time.Second
	minEvery     = time.Second
)

// Settings are the table [policy].
type Settings struct {
	Channel string // its URL
	Keys    []bundle.PublicKey
	Every   time.Duration
	// MaxAge is how long a bundle is in force after the channel was last seen to have no other
	// one, 0 for ever; Continue keeps it in force even then.
	MaxAge   time.Duration
	Continue bool
	// TokenEnv and TokenFile name the bearer token of a web server.
	TokenEnv, TokenFile string
}

// table is the table [policy] as written.
type table struct {
	Bundle    string        `toml:"bundle"`
	Keys      []string      `toml:"keys"`
	Every     time.Duration `toml:"every"`
	MaxAge    time.Duration `toml:"max_age"`
	Stale     string        `toml:"stale"`
	TokenEnv  string        `toml:"token_env"`
	TokenFile string        `toml:"token_file"`
}

// Read reads the table [policy]; every mistake is reported with its position.
func Read(t *tomltree.Value) (Settings, diag.List) {
	w := table{Every: defaultEvery}
	r := tomltree.Read(t, &w)
	s := Settings{Channel: w.Bundle, Every: w.Every, MaxAge: w.MaxAge, Continue: w.Stale == "continue", TokenEnv: w.TokenEnv, TokenFile: w.TokenFile}
	if t == nil || r.Mistakes.HasErrors() {
		return s, r.Mistakes
	}
	r.OneOf("stale", w.Stale, "deny", "continue")
	tomltree.Positive(r, "max_age", w.MaxAge)
	if w.Every < minEvery {
		r.Reject("every", errors.New("the channel is asked once a second at most"))
	}
	if w.TokenEnv != "" && w.TokenFile != "" {
		r.Reject("token_file", errors.New("want one of token_env and token_file"))
	}
	if r.Get("bundle") == nil {
		r.Report(t, "[policy] names no bundle: want bundle = \"https://...\", \"file:/...\" or \"oci://...\"")
	} else {
		r.Reject("bundle", checkChannel(w.Bundle))
	}
	for _, text := range w.Keys {
		key, err := bundle.ParsePublicKey(text)
		r.Reject("keys", err)
		s.Keys = append(s.Keys, key)
	}
	if len(w.Keys) == 0 {
		r.Report(t, "[policy] names no keys: without one every bundle is refused; minisign -G makes a pair")
	}
	return s, r.Mistakes
}

// checkChannel finds mistakes in the URL that can be seen without opening it.
func checkChannel(url string) error {
	for _, begin := range []string{"https://", "http://", "oci://", "file:/"} {
		if rest, ok := strings.CutPrefix(url, begin); ok && rest != "" {
			return nil
		}
	}
	return errors.New("want https://HOST/PATH, oci://HOST/REPOSITORY:TAG or file:/PATH")
}

// Of returns the settings of the operator's files of a set; ok is false if they name no bundle.
func Of(set config.Set) (s Settings, ok bool, err error) {
	t := set.PolicyTable()
	if t == nil {
		return s, false, nil
	}
	s, mistakes := Read(t)
	if mistakes.HasErrors() {
		return s, false, config.MistakesError{List: mistakes, Set: set}
	}
	return s, true, nil
}
