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
}

// oidcTable is the table [identity.oidc].
type oidcTable struct {
	Issuer    string `toml:"issuer,required"`
	Audience  string `toml:"audience,required"`
	Principal string `toml:"principal"`
	Groups    string `toml:"groups"`
}

// ReadIdentity reads the table [identity]; every mistake is reported with its place. Without a
// provider the result is nil.
func ReadIdentity(tables map[string]*tomltree.Value) (*identity.OIDC, diag.List) {
	var t identityTable
	s := tomltree.Read(tables["identity"], &t)
	if s.Mistakes.HasErrors() || tables["identity"] == nil {
		return nil, s.Mistakes
	}
	if t.OIDC == nil {
		s.Report(tables["identity"], "it names no provider: write [identity.oidc]")
		return nil, s.Mistakes
	}
	o := &identity.OIDC{Issuer: t.OIDC.Issuer, Audience: t.OIDC.Audience, Principal: t.OIDC.Principal, Groups: t.OIDC.Groups}
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
	return o, s.Mistakes
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
