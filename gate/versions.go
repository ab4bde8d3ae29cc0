package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate/session"
)

// versions is the hash of a policy together with the policies written in Go that stand
// beside it (S36): the file's own hash where there are none. Of those that
// have no version nobody can tell whether they are the same code: their names are
// unversioned, for the records. Session policies count as they are registered when a
// policy comes into force; what changes later is an event row.
func (g *Gate) versions(hash string) (all string, unversioned []string) {
	list := make([]any, 0, len(g.policies)+len(g.config.handoffs))
	for _, p := range g.policies {
		list = append(list, p)
	}
	for _, p := range g.config.handoffs {
		list = append(list, p)
	}
	for _, p := range g.registry.Set().All() {
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
			unversioned = append(unversioned, word(name))
			version = "unversioned"
		}
		add(name + "@" + version)
	}
	return hex.EncodeToString(sum.Sum(nil)), unversioned[:min(len(unversioned), maxList):min(len(unversioned), maxList)]
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
