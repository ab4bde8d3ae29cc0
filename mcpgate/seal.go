package mcpgate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// state is the gateway's state between two rounds of one call. The client stores it
// encrypted: it can neither read nor change it, and the state is valid for this call only.
type state struct {
	Principal   stopgate.Principal
	Session     stopgate.SessionID
	Server      stopgate.ServerID
	Method      string
	Name        string
	Args        string // SHA-256 of the canonical arguments in hex
	Policy      string
	Approval    string // id of the pending question
	Issued      time.Time
	Expires     time.Time
	ServerState *string // state of the server
}

// stateVersion is the version of the encoded state.
const stateVersion = 1

func (st state) encode() []byte {
	var o object
	o.int("v", stateVersion).text("principal", string(st.Principal)).text("session", string(st.Session)).text("server", string(st.Server))
	o.text("method", st.Method).text("name", st.Name).text("args", st.Args).text("policy", st.Policy).text("approval", st.Approval)
	o.int("issued", st.Issued.UnixMilli()).int("expires", st.Expires.UnixMilli())
	if st.ServerState != nil {
		o.text("theirs", *st.ServerState)
	}
	return o.end()
}

// decodeState decodes the output of encode.
func decodeState(text []byte) (st state, ok bool) {
	v, err := jsonstream.Parse(text, jsonstream.Options{})
	if err != nil || v.Kind() != jsonstream.Object {
		return st, false
	}
	number := func(name string) int64 {
		n, _ := v.Get(name)
		d, _ := n.Decimal()
		i, _ := d.Int64()
		return i
	}
	st = state{
		Principal: stopgate.Principal(textOf(v, "principal")), Session: stopgate.SessionID(textOf(v, "session")),
		Server: stopgate.ServerID(textOf(v, "server")), Method: textOf(v, "method"), Name: textOf(v, "name"),
		Args: textOf(v, "args"), Policy: textOf(v, "policy"), Approval: textOf(v, "approval"),
		Issued: time.UnixMilli(number("issued")), Expires: time.UnixMilli(number("expires")),
	}
	if theirs, ok := v.Get("theirs"); ok {
		text := theirs.Text()
		st.ServerState = &text
	}
	return st, number("v") == stateVersion
}

// stateTTL is the maximum duration of a round; approvals have the same lifetime.
const stateTTL = 15 * time.Minute

// clockSkew is the tolerated difference between clocks.
const clockSkew = time.Minute

const statePrefix = "sg1."

// sealer encrypts states.
type sealer struct{ aead cipher.AEAD }

// newSealer derives the key from secret, or from a random secret if it is nil.
func newSealer(secret []byte) (*sealer, error) {
	if secret == nil {
		secret = make([]byte, 32)
		rand.Read(secret)
	}
	if len(secret) < 32 {
		return nil, errors.New("mcpgate: the state secret is shorter than 32 bytes")
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "stopgate mcp round trips", 32)
	if err != nil {
		return nil, fmt.Errorf("mcpgate: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("mcpgate: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{aead}, err
}

func (s *sealer) seal(st state) string {
	text := s.aead.Seal(nil, nil, st.encode(), []byte(statePrefix))
	return statePrefix + base64.RawURLEncoding.EncodeToString(text)
}

var errState = errors.New("mcpgate: the request state is invalid or expired")

func (s *sealer) open(text string, now time.Time) (st state, err error) {
	encoded, ok := strings.CutPrefix(text, statePrefix)
	if !ok {
		return st, errState
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return st, errState
	}
	plain, err := s.aead.Open(nil, nil, raw, []byte(statePrefix))
	if err != nil {
		return st, errState
	}
	// A state from the future means that the clock was set back, so its expiry is unknown
	// (FM13).
	if st, ok = decodeState(plain); !ok || !now.Before(st.Expires) || now.Add(clockSkew).Before(st.Issued) {
		return state{}, errState
	}
	return st, nil
}
