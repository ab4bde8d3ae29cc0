// Package issuer is an OpenID Connect provider for tests: a real HTTP server with discovery and keys,
// which signs whatever a test asks it to.
//
//	i := issuer.New(t)
//	token := i.Token(map[string]any{"email": "ann@example.com", "groups": []string{"leads"}})
package issuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Audience is the audience of the tokens.
const Audience = "stopgate"

// Issuer is a provider. It is safe for concurrent use.
type Issuer struct {
	URL string

	t      testing.TB
	server *httptest.Server

	mu    sync.Mutex
	now   func() time.Time
	keys  []jose.JSONWebKey // private ones; the last one signs
	reads int               // of the keys
	down  bool
}

// New starts a provider with one key.
func New(t testing.TB) *Issuer {
	i := &Issuer{t: t, now: time.Now}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		i.write(w, map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.reads++
		set := jose.JSONWebKeySet{}
		for _, k := range i.keys {
			set.Keys = append(set.Keys, k.Public())
		}
		i.mu.Unlock()
		i.write(w, set)
	})
	i.server = httptest.NewServer(mux)
	i.URL = i.server.URL
	t.Cleanup(i.server.Close)
	i.Rotate()
	return i
}

func (i *Issuer) write(w http.ResponseWriter, v any) {
	i.mu.Lock()
	down := i.down
	i.mu.Unlock()
	if down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// At sets the clock of the tokens.
func (i *Issuer) At(now func() time.Time) { i.now = now }

// Down makes every request fail, or no more.
func (i *Issuer) Down(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// Reads returns how often the keys were read.
func (i *Issuer) Reads() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reads
}

// Rotate replaces all keys by a new one, of another kind each time.
func (i *Issuer) Rotate() {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 1
	if len(i.keys) > 0 {
		_, _ = fmt.Sscanf(i.keys[0].KeyID, "key-%d", &n)
		n++
	}
	key := jose.JSONWebKey{KeyID: fmt.Sprintf("key-%d", n), Use: "sig"}
	var err error
	if n%2 == 1 {
		key.Key, err = rsa.GenerateKey(rand.Reader, 2048)
		key.Algorithm = "RS256"
	} else {
		key.Key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		key.Algorithm = "ES256"
	}
	if err != nil {
		i.t.Fatal(err)
	}
	i.keys = []jose.JSONWebKey{key}
}

// Claims returns the claims of a token that is accepted, with others in addition; nil removes one.
func (i *Issuer) Claims(more map[string]any) map[string]any {
	now := i.now()
	claims := map[string]any{"iss": i.URL, "aud": Audience, "sub": "u-1", "iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix()}
	maps.Copy(claims, more)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// Token returns a signed token.
func (i *Issuer) Token(more map[string]any) string {
	i.mu.Lock()
	key := i.keys[0]
	i.mu.Unlock()
	return i.Sign(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, i.Claims(more))
}

// Logout returns a logout token for a session or a subject.
func (i *Issuer) Logout(more map[string]any) string {
	claims := map[string]any{"jti": rand.Text(), "sub": nil, "events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}
	maps.Copy(claims, more)
	return i.Token(claims)
}

// Sign signs claims with any key.
func (i *Issuer) Sign(key jose.SigningKey, claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return text
}

// Unsigned returns a token with the algorithm none.
func (i *Issuer) Unsigned(more map[string]any) string {
	payload, err := json.Marshal(i.Claims(more))
	if err != nil {
		i.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
}

// Symmetric returns a token that is signed with the text of the public key as the secret.
func (i *Issuer) Symmetric(more map[string]any) string {
	i.mu.Lock()
	key := i.keys[0]
	i.mu.Unlock()
	der, err := x509.MarshalPKIXPublicKey(key.Public().Key)
	if err != nil {
		i.t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return i.Sign(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{Key: secret, KeyID: key.KeyID}}, i.Claims(more))
}

// Stranger returns a token that a key of nobody signed, under an id.
func (i *Issuer) Stranger(id string, more map[string]any) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	return i.Sign(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, i.Claims(more))
}
