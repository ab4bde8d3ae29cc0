package identity

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stopgate/stopgate/jsonstream"
)

// algorithms are the accepted signatures. All are asymmetric: with a symmetric one the published key
// would sign.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// token is a token that is signed, in force and for the audience.
type token struct {
	subject, session string
	issued           time.Time
	claims           jsonstream.Value
}

// unverified parses the claims of a token that nothing is known of.
func unverified(text string) (jsonstream.Value, error) {
	if len(text) > MaxToken {
		return jsonstream.Value{}, tooLong(len(text))
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return jsonstream.Value{}, errors.New("it is not a signed token of three parts")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return jsonstream.Value{}, errors.New("its claims are not base64url")
	}
	return readClaims(payload)
}

// readClaims parses claims. A member that is repeated makes them invalid.
func readClaims(payload []byte) (jsonstream.Value, error) {
	claims, err := jsonstream.Parse(payload, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return claims, fmt.Errorf("its claims: %w", err)
	}
	return claims, nil
}

// verify checks everything about a token but its claims on the caller.
func (p *Provider) verify(ctx context.Context, text string) (*token, error) {
	if text == "" {
		return nil, errNoToken
	}
	open, err := unverified(text)
	if err != nil {
		return nil, fmt.Errorf("the token: %w", err)
	}
	if issuer, _ := open.Get("iss"); issuer.Text() != p.settings.Issuer { // before keys are read for it
		return nil, fmt.Errorf("the token is of the issuer %.200q, want %q", issuer.Text(), p.settings.Issuer)
	}
	signed, err := p.verifier().Verify(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("the token: %w", err)
	}
	var payload payload
	if err := signed.Claims(&payload); err != nil {
		return nil, fmt.Errorf("the token: %w", err)
	}
	claims, err := readClaims(payload)
	if err != nil {
		return nil, fmt.Errorf("the token: %w", err)
	}
	if events, ok := claims.Get("events"); ok && events.IsValid() {
		return nil, errors.New("the token is an event of the issuer, and of no caller")
	}
	t := &token{subject: signed.Subject, issued: signed.IssuedAt, claims: claims}
	if sid, _ := claims.Get("sid"); sid.Kind() == jsonstream.String {
		t.session = sid.Text()
	}
	return t, p.inForce(claims, signed.Expiry)
}

func (p *Provider) verifier() *oidc.IDTokenVerifier {
	return oidc.NewVerifier(p.settings.Issuer, p.keys, &oidc.Config{
		ClientID: p.settings.Audience, SupportedSigningAlgs: algorithms, SkipExpiryCheck: true, Now: p.options.Now,
	})
}

// maxTime bounds times in seconds, so that they are not out of range.
const maxTime = 1 << 40

// inForce checks the times of a token, with the tolerance of Skew.
func (p *Provider) inForce(claims jsonstream.Value, expiry time.Time) error {
	now := p.options.Now()
	if expiry.Add(Skew).Before(now) { // also one that has no end
		return fmt.Errorf("the token expired at %s", expiry.UTC().Format(time.RFC3339))
	}
	for _, name := range []string{"nbf", "iat"} {
		v, ok := claims.Get(name)
		if !ok {
			continue
		}
		seconds, err := strconv.ParseFloat(string(v.Raw()), 64)
		if v.Kind() != jsonstream.Number || err != nil || seconds > maxTime {
			return fmt.Errorf("the token's %s is not a time", name)
		}
		if from := time.Unix(int64(seconds), 0); from.After(now.Add(Skew)) {
			return fmt.Errorf("the token holds from %s on (%s)", from.UTC().Format(time.RFC3339), name)
		}
	}
	return nil
}

// payload is the claims as they were signed.
type payload []byte

// UnmarshalJSON keeps the text.
func (p *payload) UnmarshalJSON(text []byte) error {
	*p = append((*p)[:0], text...)
	return nil
}
