// Package secret reads tokens and keys from the sources that settings name: an environment
// variable, a file, or, for a token, its hash in the settings.
//
//	r := secret.Machine()
//	key, err := r.Text("LLM_KEY", "")
//	sum, err := r.Hash("", "", "/etc/stopgate/ci.token")
//
// Guarantees: a file that everyone can read is refused; errors name the source and never the
// secret.
package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// MinToken is the minimum length of a token in bytes, against guessing.
const MinToken = 16

// maxFile is the maximum size of a file in bytes.
const maxFile = 16 << 10

// Reader reads the sources of a machine.
type Reader struct {
	// Getenv returns the value of an environment variable.
	Getenv func(name string) string
	// Read returns the text of a file with a secret; Public that of another file.
	Read, Public func(path string) ([]byte, error)

	elsewhere bool
}

// Elsewhere reports that the reader returns placeholders, see [Anywhere].
func (r Reader) Elsewhere() bool { return r.elsewhere }

// Machine returns a reader of the current machine.
func Machine() Reader { return Reader{Getenv: os.Getenv, Read: ReadFile, Public: os.ReadFile} }

// Anywhere returns a reader for checking settings of another machine: every source exists.
func Anywhere() Reader {
	some := strings.Repeat("x", MinToken)
	read := func(string) ([]byte, error) { return []byte(some), nil }
	return Reader{Getenv: func(string) string { return some }, Read: read, Public: read, elsewhere: true}
}

// Text reads a secret from an environment variable or a file; exactly one of them must be named.
func (r Reader) Text(env, file string) (string, error) {
	if (env == "") == (file == "") {
		return "", errors.New("want one of the two: a variable or a file")
	}
	if env != "" {
		text := r.Getenv(env)
		if text == "" {
			return "", fmt.Errorf("the environment variable %s is not set", env)
		}
		return text, nil
	}
	raw, err := r.Read(file)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(raw), "\r\n")
	if text == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return text, nil
}

// Hash returns the SHA-256 of a token. Exactly one source must be named: sum, the hash in hex, a
// variable or a file.
func (r Reader) Hash(sum, env, file string) (hash [sha256.Size]byte, err error) {
	given := 0
	for _, source := range []string{sum, env, file} {
		if source != "" {
			given++
		}
	}
	if given != 1 {
		return hash, errors.New("want one of sha256, env and file")
	}
	if sum != "" {
		raw, err := hex.DecodeString(sum)
		if err != nil || len(raw) != len(hash) {
			return hash, errors.New("sha256 is the hash of the token, 64 hexadecimal digits: printf %s TOKEN | sha256sum")
		}
		return [sha256.Size]byte(raw), nil
	}
	text, err := r.Text(env, file)
	if err != nil {
		return hash, err
	}
	if len(text) < MinToken {
		return hash, fmt.Errorf("a token of fewer than %d characters can be guessed: openssl rand -hex 32 makes one", MinToken)
	}
	return sha256.Sum256([]byte(text)), nil
}

// ReadFile reads a file that only its owner can write and that not everyone can read.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if at.Mode().Perm()&0o027 != 0 {
		return nil, fmt.Errorf("%s is open to other users: chmod 600 it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is longer than %d bytes", path, maxFile)
	}
	return text, err
}
