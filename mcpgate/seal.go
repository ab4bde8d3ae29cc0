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

// state is what a client keeps for the gate between two rounds of one call. It is
// sealed: a client can neither read nor change it, and it holds for the very call only
// (WIRE 8.6).
type state struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
	Server    stopgate.ServerID
	Method    string
	Name      string
	Args      string // SHA-256 in hex of the canonical arguments
	Policy    string
	Approval  string // the question that waits
	Issued    time.Time
	Expires   time.Time
	Theirs    *string // the server's own state
}

// stateVersion is the version of a state's text.
const stateVersion = 1

func (st state) text() []byte {
	var o object
	o.int("v", stateVersion).text("principal", string(st.Principal)).text("session", string(st.Session)).text("server", string(st.Server))
	o.text("method", st.Method).text("name", st.Name).text("args", st.Args).text("policy", st.Policy).text("approval", st.Approval)
	o.int("issued", st.Issued.UnixMilli()).int("expires", st.Expires.UnixMilli())
	if st.Theirs != nil {
		o.text("theirs", *st.Theirs)
	}
	return o.end()
}

// readState reads what text wrote.
func readState(text []byte) (st state, ok bool) {
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
		st.Theirs = &text
	}
	return st, number("v") == stateVersion
}

// stateLife is how long a round may take: as long as an approval holds.
const stateLife = 15 * time.Minute

// slack is how far clocks may be apart, or set right, without consequence.
const slack = time.Minute

const statePrefix = "sg1."

// sealer seals states.
type sealer struct{ aead cipher.AEAD }

// newSealer derives the key from the gate's secret; without one it makes one up.
func newSealer(secret []byte) (*sealer, error) {
	if secret == nil {
		secret = make([]byte, 32)
		rand.Read(secret)
	}
	if len(secret) < 32 {
		return nil, errors.New("mcpgate: the secret of round trips needs 32 bytes")
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
	text := s.aead.Seal(nil, nil, st.text(), []byte(statePrefix))
	return statePrefix + base64.RawURLEncoding.EncodeToString(text)
}

var errState = errors.New("mcpgate: the request state is not the gate's, or not valid any more")

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
	// One from a time that has not come any more is of a clock that was set back: nobody
	// knows when it ends (FM13).
	if st, ok = readState(plain); !ok || !now.Before(st.Expires) || now.Add(slack).Before(st.Issued) {
		return state{}, errState
	}
	return st, nil
}
