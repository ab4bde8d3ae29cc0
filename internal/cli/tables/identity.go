package tables

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/identity"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// identityTable is the table [identity].
type identityTable struct {
	OIDC *oidcTable `toml:"oidc"`
	MTLS *mtlsTable `toml:"mtls"`
}

// oidcTable is the table [identity.oidc].
type oidcTable struct {
	Issuer    string `toml:"issuer,required"`
	Audience  string `toml:"audience,required"`
	Principal string `toml:"principal"`
	Groups    string `toml:"groups"`
}

// mtlsTable is the table [identity.mtls].
type mtlsTable struct {
	CA          string `toml:"ca,required"`
	TrustDomain string `toml:"trust_domain,required"`
}

// ReadIdentity reads the table [identity]; every mistake is reported with its place. Of
// providers and certificates that are not configured the result is nil.
func ReadIdentity(tables map[string]*tomltree.Value) (*identity.OIDC, *identity.MTLS, diag.List) {
	var t identityTable
	s := tomltree.Read(tables["identity"], &t)
	if s.Mistakes.HasErrors() || tables["identity"] == nil {
		return nil, nil, s.Mistakes
	}
	if t.OIDC == nil && t.MTLS == nil {
		s.Report(tables["identity"], "it names nothing that authenticates callers: write [identity.oidc] or [identity.mtls]")
	}
	var provider *identity.OIDC
	if t.OIDC != nil {
		provider = oidcOf(s, t.OIDC)
	}
	var workloads *identity.MTLS
	if t.MTLS != nil {
		workloads = mtlsOf(s, t.MTLS, tables["gateway"])
	}
	return provider, workloads, s.Mistakes
}

// oidcOf checks the table [identity.oidc].
func oidcOf(s *tomltree.Settings, t *oidcTable) *identity.OIDC {
	o := &identity.OIDC{Issuer: t.Issuer, Audience: t.Audience, Principal: t.Principal, Groups: t.Groups}
	if o.Principal == "" {
		o.Principal = "sub"
	}
	at := s.Get("oidc").Value
	if err := identity.CheckURL(o.Issuer); err != nil {
		s.Report(at.Get("issuer").Value, "%v", err)
	}
	if o.Audience == "" {
		s.Report(at.Get("audience").Value, "without an audience the tokens for every other program open this one")
	}
	for key, claim := range map[string]string{"principal": o.Principal, "groups": o.Groups} {
		if _, err := jsonstream.ParsePointer(claim); len(claim) > 0 && claim[0] == '/' && err != nil {
			s.Report(at.Get(key).Value, "%v", err)
		}
	}
	return o
}

// mtlsOf checks the table [identity.mtls]. Only the gateway speaks TLS.
func mtlsOf(s *tomltree.Settings, t *mtlsTable, gateway *tomltree.Value) *identity.MTLS {
	at := s.Get("mtls").Value
	if t.CA == "" {
		s.Report(at.Get("ca").Value, "want the PEM file with the roots of the trust domain")
	}
	if err := identity.CheckTrustDomain(t.TrustDomain); err != nil {
		s.Report(at.Get("trust_domain").Value, "%v", err)
	}
	if gateway == nil || gateway.Kind != tomltree.Table || gateway.Get("tls_cert") == nil || gateway.Get("tls_key") == nil {
		s.Report(at, "client certificates need TLS at the gateway: set tls_cert and tls_key of [gateway]")
	}
	return &identity.MTLS{CA: t.CA, TrustDomain: t.TrustDomain}
}

// TokenNames returns a function that reports whether a name is that of a token of the tables.
func TokenNames(tables map[string]*tomltree.Value) func(stopgate.Principal) bool {
	names := make(map[stopgate.Principal]bool)
	for _, table := range []string{"api", "gateway", "mcp"} {
		if t := tables[table]; t != nil && t.Kind == tomltree.Table {
			if e := t.Get("tokens"); e != nil {
				for _, token := range e.Value.Entries {
					names[stopgate.Principal(token.Key)] = true
				}
			}
		}
	}
	return func(who stopgate.Principal) bool { return names[who] }
}

// groupsOf reads the groups of a token; nil is groups that are not known.
func groupsOf(s *tomltree.Settings, at *tomltree.Value, names *[]string) stopgate.Groups {
	if names == nil {
		return stopgate.Groups{}
	}
	groups, err := stopgate.GroupsOf(*names...)
	if err != nil {
		s.Report(at, "%v", err)
	}
	return groups
}
