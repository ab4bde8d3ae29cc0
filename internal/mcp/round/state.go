package round

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Call is the call that a state is valid for.
type Call struct {
	Principal stopgate.Principal
	Session   stopgate.SessionID
	Server    stopgate.ServerID
	Method    string
	Name      string
}

// State is the gateway's state between two rounds of one call. The client stores it
// encrypted: it can neither read nor change it, and the state is valid for this call only.
type State struct {
	Call
	Args        string // SHA-256 of the canonical arguments in hex
	Policy      string
	Approval    string // id of the pending question
	Issued      time.Time
	Expires     time.Time
	ServerState *string // state of the server
}

// stateVersion is the version of the encoded state.
const stateVersion = 1

func (st State) encode() []byte {
	var o jsonrpc.Object
	o.Int("v", stateVersion).Text("principal", string(st.Principal)).Text("session", string(st.Session)).Text("server", string(st.Server))
	o.Text("method", st.Method).Text("name", st.Name).Text("args", st.Args).Text("policy", st.Policy).Text("approval", st.Approval)
	o.Int("issued", st.Issued.UnixMilli()).Int("expires", st.Expires.UnixMilli())
	if st.ServerState != nil {
		o.Text("theirs", *st.ServerState)
	}
	return o.End()
}

// decodeState decodes the output of encode.
func decodeState(text []byte) (st State, ok bool) {
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
	st = State{
		Call: Call{
			Principal: stopgate.Principal(jsonrpc.TextOf(v, "principal")), Session: stopgate.SessionID(jsonrpc.TextOf(v, "session")),
			Server: stopgate.ServerID(jsonrpc.TextOf(v, "server")), Method: jsonrpc.TextOf(v, "method"), Name: jsonrpc.TextOf(v, "name"),
		},
		Args: jsonrpc.TextOf(v, "args"), Policy: jsonrpc.TextOf(v, "policy"), Approval: jsonrpc.TextOf(v, "approval"),
		Issued: time.UnixMilli(number("issued")), Expires: time.UnixMilli(number("expires")),
	}
	if theirs, ok := v.Get("theirs"); ok {
		text := theirs.Text()
		st.ServerState = &text
	}
	return st, number("v") == stateVersion
}

// TTL is the maximum duration of a round; approvals have the same lifetime.
const TTL = 15 * time.Minute

// clockSkew is the tolerated difference between clocks.
const clockSkew = time.Minute

const statePrefix = "sg1."

// Sealer encrypts states.
type Sealer struct{ aead cipher.AEAD }

// NewSealer derives the key from secret, or from a random secret if it is nil.
func NewSealer(secret []byte) (*Sealer, error) {
	if secret == nil {
		secret = make([]byte, 32)
		rand.Read(secret)
	}
	if len(secret) < 32 {
		return nil, errors.New("the state secret is shorter than 32 bytes")
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "stopgate mcp round trips", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Sealer{aead}, err
}

// Seal encrypts a state.
func (s *Sealer) Seal(st State) string {
	text := s.aead.Seal(nil, nil, st.encode(), []byte(statePrefix))
	return statePrefix + base64.RawURLEncoding.EncodeToString(text)
}

// errState hides why a state is invalid from the client that sent it.
var errState = errors.New("the request state is invalid or expired")

// Open decrypts a state. It fails if the state was changed, is expired or comes from the future.
func (s *Sealer) Open(text string, now time.Time) (st State, err error) {
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
		return State{}, errState
	}
	return st, nil
}
