package bundles_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// world is a channel in memory, and the state directory of a user.
type world struct {
	t        *testing.T
	key      bundle.SecretKey
	settings bundles.Settings
	account  config.Account
	dir      string
	newest   bundle.Signed
	down     error
	fetched  int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	_, secret, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := secret.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: t.TempDir(), down: bundle.ErrNone}
	if w.key, err = bundle.ParseSecretKey(text, ""); err != nil {
		t.Fatal(err)
	}
	w.settings = bundles.Settings{Channel: "https://host/prod", Keys: []bundle.PublicKey{w.key.Public()}, Every: time.Second}
	w.account = config.Account{Getenv: func(name string) string {
		if name == "XDG_STATE_HOME" {
			return w.dir
		}
		return ""
	}}
	return w
}

func (w *world) keeper() *bundles.Keeper {
	w.t.Helper()
	k, err := bundles.New(w.settings, w.account, func(_ context.Context, tag string) (bundle.Signed, error) {
		w.fetched++
		switch {
		case w.down != nil:
			return bundle.Signed{}, w.down
		case tag == w.newest.Tag:
			return bundle.Signed{}, bundle.ErrUnchanged
		}
		return w.newest, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// push makes a bundle the newest one of the channel.
func (w *world) push(generation uint64, text string) *bundle.Bundle {
	w.t.Helper()
	b, err := bundle.Build(bundle.Content{Generation: generation, Created: time.Unix(1e9, 0), Files: []bundle.File{{Name: "p.toml", Data: []byte(text)}}})
	if err != nil {
		w.t.Fatal(err)
	}
	signature := bundle.Sign(b, w.key)
	w.newest, w.down = bundle.Signed{Archive: b.Archive, Signature: signature, Tag: string(signature)}, nil
	return b
}

// inForce returns the generation that a keeper adds to a set, 0 for none.
func inForce(t *testing.T, k *bundles.Keeper) uint64 {
	t.Helper()
	set, err := k.Add(config.Set{})
	if errors.Is(err, bundle.ErrNone) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return set.Rollout.Bundle.Generation
}

// poll asks the channel and accepts a candidate.
func poll(k *bundles.Keeper) error {
	if err := k.Poll(context.Background()); err != nil {
		return err
	}
	return k.Conclude(nil)
}

func TestKeeper(t *testing.T) {
	w := newWorld(t)
	k := w.keeper()
	if !k.Due() || inForce(t, k) != 0 {
		t.Error("a new channel is not asked, or has a bundle")
	}
	if err := poll(k); !errors.Is(err, bundles.ErrUnreachable) {
		t.Errorf("an empty channel: %v", err)
	}
	if k.Due() {
		t.Error("the channel is asked again at once")
	}
	w.push(3, "version = 1\n")
	if err := poll(k); err != nil || inForce(t, k) != 3 {
		t.Fatalf("generation %d, %v", inForce(t, k), err)
	}
	// Another process begins with it.
	if other := w.keeper(); inForce(t, other) != 3 || other.Due() {
		t.Error("another process does not have the bundle")
	}
	w.down = errors.New("down")
	if err := poll(k); !errors.Is(err, bundles.ErrUnreachable) || inForce(t, k) != 3 {
		t.Errorf("down: generation %d, %v", inForce(t, k), err)
	}
	w.down = nil
	if err := poll(k); err != nil {
		t.Errorf("up again: %v", err)
	}
	if s, err := k.Status(); err != nil || s.Refused != nil || s.Bundle.Generation != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

// Proves S71: what is not newer, and not good, does not replace the last good bundle, in this process or after a
// restart.
func TestKeeperRefuses(t *testing.T) {
	w := newWorld(t)
	k := w.keeper()
	w.push(3, "version = 1\n")
	if err := poll(k); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		generation uint64
		text       string
	}{{"older", 2, "version = 1\n"}, {"another of the same generation", 3, "version = 1 # other\n"}} {
		w.push(c.generation, c.text)
		for _, k := range []*bundles.Keeper{k, w.keeper()} {
			if err := poll(k); !errors.Is(err, bundles.ErrOlder) || inForce(t, k) != 3 {
				t.Errorf("%s: generation %d, %v", c.name, inForce(t, k), err)
			}
			if err := poll(k); !errors.Is(err, bundles.ErrOlder) {
				t.Errorf("%s, again: %v", c.name, err)
			}
		}
	}
	// Mistakes are found when it is compiled.
	w.push(4, "version = 2\n")
	if err := k.Poll(context.Background()); err != nil || !k.Candidate() || inForce(t, k) != 4 {
		t.Fatalf("no candidate: %v", err)
	}
	mistake := errors.New("a mistake")
	if err := k.Conclude(mistake); !errors.Is(err, mistake) || inForce(t, k) != 3 {
		t.Errorf("generation %d, %v", inForce(t, k), err)
	}
	if err := poll(k); !errors.Is(err, mistake) {
		t.Errorf("the refusal is forgotten: %v", err)
	}
	k.Retry()
	if err := k.Poll(context.Background()); err != nil || !k.Candidate() {
		t.Errorf("not tried again after other files changed: %v", err)
	}
}

// The generation that the store remembers counts, also where the last good bundle is gone.
func TestKeeperAsksTheStore(t *testing.T) {
	w := newWorld(t)
	k := w.keeper()
	k.Newest = func(context.Context) (stopgate.Bundle, error) {
		return stopgate.Bundle{Generation: 9, Digest: "x"}, nil
	}
	w.push(8, "version = 1\n")
	if err := poll(k); !errors.Is(err, bundles.ErrOlder) || inForce(t, k) != 0 {
		t.Errorf("generation %d, %v", inForce(t, k), err)
	}
	k.Newest = func(context.Context) (stopgate.Bundle, error) { return stopgate.Bundle{}, errors.New("no store") }
	w.push(10, "version = 1\n")
	if err := poll(k); err == nil || inForce(t, k) != 0 {
		t.Error("a bundle was accepted without the store")
	}
}

// The kept bundle is verified again: changed bytes, and other keys, are refused.
func TestKeptIsVerified(t *testing.T) {
	w := newWorld(t)
	k := w.keeper()
	w.push(3, "version = 1\n")
	if err := poll(k); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "stopgate", "bundles", "*", "bundle"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"changed": bytes.Replace(data, []byte("version = 1"), []byte("version = 7"), 1), "cut": data[:len(data)-1], "empty": nil, "one line": []byte("x\n"),
	} {
		if err := os.WriteFile(files[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		if set, err := w.keeper().Add(config.Set{}); err == nil || errors.Is(err, bundle.ErrNone) {
			t.Errorf("%s: %+v, %v", name, set, err)
		}
	}
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	w.settings.Keys = newWorld(t).settings.Keys
	if _, err := w.keeper().Add(config.Set{}); !errors.Is(err, bundle.ErrUnknownKey) {
		t.Errorf("another key: %v", err)
	}
}

// Proves S73: a bundle is too old when the channel was not read for max_age, or the clock went back.
func TestMaxAge(t *testing.T) {
	w := newWorld(t)
	w.settings.MaxAge = time.Hour
	w.push(3, "version = 1\n")
	if err := poll(w.keeper()); err != nil {
		t.Fatal(err)
	}
	checked, err := filepath.Glob(filepath.Join(w.dir, "stopgate", "bundles", "*", "checked"))
	if err != nil || len(checked) != 1 {
		t.Fatal(checked, err)
	}
	for age, want := range map[time.Duration]bool{time.Minute: false, 59 * time.Minute: false, 61 * time.Minute: true, -2 * time.Minute: true} {
		at := time.Now().Add(-age)
		if err := os.Chtimes(checked[0], at, at); err != nil {
			t.Fatal(err)
		}
		for _, goesOn := range []bool{false, true} {
			w.settings.Continue = goesOn
			set, err := w.keeper().Add(config.Set{})
			if err != nil || set.Rollout.Stale != (want && !goesOn) {
				t.Errorf("age %v, continue %t: %+v, %v", age, goesOn, set.Rollout, err)
			}
			if denies := strings.Contains(string(set.Files[0].Text), "too old"); denies != set.Rollout.Stale {
				t.Errorf("age %v: the first file is %s", age, set.Files[0].Path)
			}
		}
	}
}

// Settings with mistakes name them.
func TestSettings(t *testing.T) {
	const key = `keys = ["RWSXIE5j9+tg+wV7Ya3ZUX5an5K3vlieABqOzgu5H3cTD7/znC3NfZsJ"]`
	read := func(text string) (bundles.Settings, bool) {
		doc, mistakes := tomltree.Parse("p.toml", []byte("[policy]\n"+text+"\n"))
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		s, found := bundles.Read(doc.Root.Get("policy").Value)
		return s, !found.HasErrors()
	}
	s, ok := read("bundle = \"https://host/prod\"\n" + key)
	if !ok || s.Every != 10*time.Second || s.MaxAge != 0 || s.Continue || len(s.Keys) != 1 {
		t.Errorf("%+v %t", s, ok)
	}
	for _, text := range []string{
		key, `bundle = "https://host/prod"`, "bundle = \"prod\"\n" + key, "bundle = \"file:prod\"\n" + key, "bundle = \"https://h/p\"\nkeys = []", "bundle = \"https://h/p\"\nkeys = [\"x\"]",
		"bundle = \"https://h/p\"\nevery = \"1ms\"\n" + key, "bundle = \"https://h/p\"\nmax_age = \"0s\"\n" + key, "bundle = \"https://h/p\"\nstale = \"maybe\"\n" + key,
		"bundle = \"https://h/p\"\ncanary = \"10%\"\n" + key, "bundle = \"https://h/p\"\ntoken_env = \"A\"\ntoken_file = \"b\"\n" + key,
	} {
		if s, ok := read(text); ok {
			t.Errorf("%s\nis accepted: %+v", text, s)
		}
	}
}
