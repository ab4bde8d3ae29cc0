// Package secret reads tokens and keys from the places that settings name: an
// environment variable, a file, or, of a token, its hash in the settings themselves.
//
//	r := secret.Machine()
//	key, err := r.Text("LLM_KEY", "")
//	sum, err := r.Hash("", "", "/etc/stopgate/ci.token")
//
// What it promises: a file that everybody can read is no secret and is refused; an
// error names the place and never the text.
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

// MinToken is the least length of a token in bytes: nobody tries out so many.
const MinToken = 16

// maxFile is the largest file that is read, in bytes.
const maxFile = 16 << 10

// Reader knows how to look into a machine.
type Reader struct {
	// Getenv returns the value of an environment variable.
	Getenv func(name string) string
	// Read returns the text of a file that holds a secret; Public, of one that does not.
	Read, Public func(path string) ([]byte, error)

	elsewhere bool
}

// Elsewhere reports that the texts are made up, see [Anywhere].
func (r Reader) Elsewhere() bool { return r.elsewhere }

// Machine reads from the machine that the process runs on.
func Machine() Reader { return Reader{Getenv: os.Getenv, Read: ReadFile, Public: os.ReadFile} }

// Anywhere answers for a machine that is not this one: whatever is asked for is there.
func Anywhere() Reader {
	some := strings.Repeat("x", MinToken)
	read := func(string) ([]byte, error) { return []byte(some), nil }
	return Reader{Getenv: func(string) string { return some }, Read: read, Public: read, elsewhere: true}
}

// Text reads a secret from an environment variable or a file; exactly one of them is
// named.
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

// Hash returns the SHA-256 of a token. Exactly one place is named: sum, the hash itself
// in hex, a variable or a file.
func (r Reader) Hash(sum, env, file string) (hash [sha256.Size]byte, err error) {
	given := 0
	for _, place := range []string{sum, env, file} {
		if place != "" {
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

// ReadFile reads a file that not everybody can read, and that nobody but its owner can
// write.
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
