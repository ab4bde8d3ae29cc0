package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate/internal/gate/rows"
	"github.com/stopgate/stopgate/session"
)

// versions returns the hash of a policy together with the policies in Go (S36); the hash of
// the policy itself if there are none. unversioned names the policies in Go without a version
// for the records, because a change of their code does not change the hash. It uses the
// session policies that are registered when a policy comes into force; later changes are
// event rows.
func (o *config) versions(hash string) (all string, unversioned []string) {
	list := make([]any, 0, len(o.policies)+len(o.handoffs))
	for _, p := range o.policies {
		list = append(list, p)
	}
	for _, p := range o.handoffs {
		list = append(list, p)
	}
	for _, p := range o.registry.Set().All() {
		list = append(list, p)
	}
	if len(list) == 0 {
		return hash, nil
	}
	sum := sha256.New()
	add := func(text string) {
		sum.Write([]byte(strconv.Itoa(len(text)) + " " + text))
	}
	add(hash)
	for _, p := range list {
		name, version := p.(interface{ Name() string }).Name(), versionOf(p)
		if version == "" {
			unversioned = append(unversioned, rows.Word(name))
			version = "unversioned"
		}
		add(name + "@" + version)
	}
	return hex.EncodeToString(sum.Sum(nil)), unversioned[:min(len(unversioned), rows.MaxList):min(len(unversioned), rows.MaxList)]
}

func versionOf(p any) string {
	if s, ok := p.(session.Policy); ok {
		return session.VersionOf(s)
	}
	if v, ok := p.(session.Versioned); ok {
		return v.Version()
	}
	return ""
}
