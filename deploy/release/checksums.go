package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
)

const (
	sumsFile      = "SHA256SUMS"
	signatureFile = "SHA256SUMS.minisig"
)

// checksums writes the checksums of all files of the directory, and signs them if there is a key.
func checksums(r *release) error {
	entries, err := os.ReadDir(r.out) // sorted
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), sumsFile) {
			continue
		}
		sum, err := hashOf(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%x  %s\n", sum, e.Name())
	}
	if list.Len() == 0 {
		return fmt.Errorf("%s has no files", r.out)
	}
	if err := r.write(sumsFile, list.Bytes()); err != nil {
		return err
	}
	if r.key == nil {
		fmt.Fprintln(os.Stderr, "release: SHA256SUMS IS NOT SIGNED, and the installer will refuse it: STOPGATE_RELEASE_KEY names no secret key of minisign")
		if err := os.Remove(filepath.Join(r.out, signatureFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	return r.write(signatureFile, r.key.sign(list.Bytes(), r.version.described))
}

func hashOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// signer signs checksums in the format of minisign.
type signer struct{ key minisign.PrivateKey }

// signingKey reads the key that STOPGATE_RELEASE_KEY names, or that STOPGATE_RELEASE_KEY_TEXT is, with its
// password in STOPGATE_RELEASE_PASSWORD. It returns nil without a key.
func signingKey(env func(string) string) (*signer, error) {
	path, text := env("STOPGATE_RELEASE_KEY"), []byte(env("STOPGATE_RELEASE_KEY_TEXT"))
	if path != "" {
		if len(text) > 0 {
			return nil, errors.New("STOPGATE_RELEASE_KEY and STOPGATE_RELEASE_KEY_TEXT are set: want one of them")
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("STOPGATE_RELEASE_KEY: %w", err)
		}
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		if path != "" {
			return nil, fmt.Errorf("STOPGATE_RELEASE_KEY: %s is empty", path)
		}
		return nil, nil
	}
	var s signer
	var err error
	if !minisign.IsEncrypted(text) {
		if err = s.key.UnmarshalText(text); err != nil {
			return nil, errors.New("the key of releases is not a secret key of minisign: want the file that minisign -G writes")
		}
		return &s, nil
	}
	password := env("STOPGATE_RELEASE_PASSWORD")
	if password == "" {
		return nil, errors.New("the key of releases has a password: set STOPGATE_RELEASE_PASSWORD")
	}
	if s.key, err = minisign.DecryptKey(password, text); err != nil {
		return nil, errors.New("decrypt the key of releases: wrong password, or the key is damaged")
	}
	return &s, nil
}

// public returns the key that verifies, in one line.
func (s *signer) public() string { return s.key.Public().(minisign.PublicKey).String() }

// sign returns the signature of the checksums of a version. It holds no time.
func (s *signer) sign(text []byte, version string) []byte {
	r := minisign.NewReader(bytes.NewReader(text))
	_, _ = io.Copy(io.Discard, r) // reads memory
	return r.SignWithComments(s.key, "stopgate "+version, fmt.Sprintf("checksums of stopgate, key %016X", s.key.ID()))
}
