package sqlite

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/s2"

	"github.com/stopgate/stopgate/internal/store/compact"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/jsonstream"
)

// Arguments are the stored arguments of a row.
type Arguments struct {
	Text []byte
	// Redacted are the pointers of the redacted values.
	Redacted []string
	// Changed reports that the arguments no longer have the hash of the row. Redacted arguments are
	// not compared.
	Changed bool
}

const (
	// long is the length from which arguments are compressed by what they repeat: files that an agent
	// writes. Shorter ones have the form of rows.
	long = 1 << 10
	// block is the first byte of the stored form of long arguments, before a block of S2.
	block = 2
	// longest is a bound of what a damaged block may claim to have, in bytes: longer than any arguments.
	longest = 64 << 20
)

// packed returns the stored form of arguments.
func packed(args []byte) []byte {
	if len(args) < long {
		return compact.Append(nil, args, nil)
	}
	stored := make([]byte, 1+s2.MaxEncodedLen(len(args)))
	stored[0] = block
	return stored[:1+len(s2.Encode(stored[1:], args))]
}

func unpacked(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != block {
		return compact.Expand(nil, stored, nil)
	}
	if n, err := s2.DecodedLen(stored[1:]); err != nil || n > longest {
		return nil, s2.ErrCorrupt
	}
	return s2.Decode(nil, stored[1:])
}

// expanded returns stored arguments as they were given; damaged ones as they are stored, which have another hash.
func expanded(stored []byte) []byte {
	text, err := unpacked(stored)
	if err != nil {
		return bytes.Clone(stored)
	}
	return text
}

// differs reports whether arguments that are stored in full have another hash.
func differs(hash, text []byte) bool {
	v, err := jsonstream.Parse(text, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return true
	}
	sum := jsonstream.HashCanonical(v)
	return !bytes.Equal(sum[:], hash)
}

// Statements for the arguments of this version, and for those of earlier ones.
const (
	fullCalls     = "SELECT hash, text FROM audit_calls WHERE hash > ? AND redacted IS NULL ORDER BY hash LIMIT ?"
	fullArguments = "SELECT hash, text FROM audit_arguments WHERE hash > ? AND redacted IS NULL ORDER BY hash LIMIT ?"
	callOf        = "SELECT text, redacted FROM audit_calls WHERE hash = ?"
	argumentsOf   = "SELECT text, redacted FROM audit_arguments WHERE hash = ?"
)

// ChangedArguments lists the hashes of arguments that were modified after they were stored.
func ChangedArguments(ctx context.Context, db *database.DB) (changed []string, err error) {
	for text, after := range map[string]any{fullCalls: []byte{}, fullArguments: ""} {
		for more := true; more; {
			err := db.Snapshot(ctx, func(tx *database.Tx) error {
				rows, err := tx.Query(text, after, page)
				if err != nil {
					return err
				}
				defer rows.Close()
				n := 0
				for ; rows.Next(); n++ {
					var stored []byte
					after = nil // a new copy of each
					if err := rows.Scan(&after, &stored); err != nil {
						return err
					}
					hash := sumOf(after)
					if differs(hash, expanded(stored)) {
						changed = append(changed, hex.EncodeToString(hash))
					}
				}
				more = n == page
				return rows.Err()
			})
			if err != nil {
				return nil, fmt.Errorf("read audit arguments: %w", err)
			}
		}
	}
	return changed, nil
}

// sumOf returns the hash in a row of arguments: bytes, or hex of an earlier version.
func sumOf(column any) []byte {
	switch hash := column.(type) {
	case []byte:
		return hash
	case string:
		if sum, err := hex.DecodeString(hash); err == nil {
			return sum
		}
	}
	return nil
}

// ArgumentsOf returns the arguments of a hash; ok is false if they are not stored.
func ArgumentsOf(ctx context.Context, db *database.DB, hash string) (a Arguments, ok bool, err error) {
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return a, false, nil
	}
	err = db.Snapshot(ctx, func(tx *database.Tx) error {
		var redacted *string
		a = Arguments{}
		if ok, err = tx.Get([]any{&a.Text, &redacted}, callOf, sum); err == nil && !ok {
			ok, err = tx.Get([]any{&a.Text, &redacted}, argumentsOf, hash)
		}
		if err != nil || !ok {
			return err
		}
		a.Text = expanded(a.Text)
		a.Changed = redacted == nil && differs(sum, a.Text)
		if redacted != nil {
			return json.Unmarshal([]byte(*redacted), &a.Redacted)
		}
		return nil
	})
	if err != nil {
		return Arguments{}, false, fmt.Errorf("read audit arguments: %w", err)
	}
	return a, ok, nil
}
