package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"aead.dev/minisign"
)

// MaxSignature is the maximum size of a signature in bytes.
const MaxSignature = 4 << 10

// Errors of signatures.
var (
	ErrUnknownKey   = errors.New("signed with a key that is not listed")
	ErrBadSignature = errors.New("the signature does not belong to these bytes")
)

// PublicKey verifies signatures.
type PublicKey struct{ key minisign.PublicKey }

// ParsePublicKey reads a public key as minisign writes it: the line of base64, with or without the
// comment above it.
func ParsePublicKey(text string) (PublicKey, error) {
	var k PublicKey
	if err := k.key.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
		return k, errors.New("not a public key of minisign: want the second line of its .pub file, which begins with RW")
	}
	return k, nil
}

// ID returns the id of the key as minisign shows it.
func (k PublicKey) ID() string { return keyID(k.key.ID()) }

// String returns the key as [ParsePublicKey] reads it.
func (k PublicKey) String() string { return k.key.String() }

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// SecretKey makes signatures.
type SecretKey struct{ key minisign.PrivateKey }

// Encrypted reports whether the text of a secret key of minisign needs a password.
func Encrypted(text []byte) bool { return minisign.IsEncrypted(bytes.TrimSpace(text)) }

// ParseSecretKey reads a secret key as minisign writes it. The password is ignored if it needs none.
func ParseSecretKey(text []byte, password string) (SecretKey, error) {
	var k SecretKey
	var err error
	if Encrypted(text) {
		if k.key, err = minisign.DecryptKey(password, bytes.TrimSpace(text)); err != nil {
			return k, errors.New("decrypt secret key: wrong password, or the key is damaged")
		}
		return k, nil
	}
	if err := k.key.UnmarshalText(bytes.TrimSpace(text)); err != nil {
		return k, errors.New("not a secret key of minisign: want the file that minisign -G writes")
	}
	return k, nil
}

// Public returns the key that verifies signatures of this one.
func (k SecretKey) Public() PublicKey { return PublicKey{k.key.Public().(minisign.PublicKey)} }

// Sign signs a bundle, as minisign does by default (prehashed).
func Sign(b *Bundle, k SecretKey) []byte {
	r := minisign.NewReader(bytes.NewReader(b.Archive))
	_, _ = io.Copy(io.Discard, r) // reads memory
	return r.SignWithComments(k.key, b.comment(), "signature of a stopgate policy bundle, key "+k.Public().ID())
}

// comment is the trusted comment of the signature.
func (b *Bundle) comment() string {
	return fmt.Sprintf("stopgate policy bundle, generation %d, sha256 %s", b.Generation, b.Digest)
}

// Open verifies a signature with the keys and reads the bundle. Without a valid signature nothing
// of the archive is parsed.
func Open(archive, signature []byte, keys []PublicKey) (*Bundle, error) {
	b, err := open(archive, signature, keys)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	return b, nil
}

func open(archive, signature []byte, keys []PublicKey) (*Bundle, error) {
	switch {
	case len(archive) > MaxArchive:
		return nil, fmt.Errorf("it has more than %d bytes", MaxArchive)
	case len(signature) > MaxSignature:
		return nil, fmt.Errorf("its signature has more than %d bytes", MaxSignature)
	}
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return nil, errors.New("its signature does not have the form of minisign")
	}
	err := fmt.Errorf("%w: %s", ErrUnknownKey, keyID(s.KeyID))
	for _, k := range keys {
		if k.key.ID() != s.KeyID {
			continue
		}
		if minisign.Verify(k.key, archive, signature) {
			return openVerified(archive, s.TrustedComment)
		}
		err = fmt.Errorf("%w: key %s", ErrBadSignature, k.ID())
	}
	return nil, err
}

func openVerified(archive []byte, comment string) (*Bundle, error) {
	b, err := read(archive, true)
	if err != nil {
		return nil, err
	}
	if want := b.comment(); comment != want {
		return nil, fmt.Errorf("the trusted comment of its signature is not %q: sign it with stopgate bundle sign", want)
	}
	return b, nil
}
