package location_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/store/location"
)

// A location is shown without its password, whatever form the URL has.
func TestShow(t *testing.T) {
	for at, want := range map[string]string{
		"/srv/a.db":            "/srv/a.db",
		"postgres.db":          "postgres.db",
		"postgres:a.db":        "postgres:a.db",
		"postgres://host/db":   "postgres://host/db",
		"postgresql://u@h/db":  "postgresql://u@h/db",
		"postgres://u:pw@h/db": "postgres://u@h/db",
		"postgres://u:p%40w@h1:5432,h2:5433/db?sslmode=verify-full": "postgres://u@h1:5432,h2:5433/db",
		"postgres://h/db?user=u&password=pw":                        "postgres://h/db",
		"postgres:///db?host=/run/pg&password=pw":                   "postgres:///db?host=%2Frun%2Fpg",
		"postgres://u:p/w@h/db":                                     "postgres://(unreadable)",
		"postgres://u:p%zzw@h/db":                                   "postgres://(unreadable)",
		"postgres://u:p w@h/db":                                     "postgres://(unreadable)",
	} {
		got := location.Show(at)
		if got != want {
			t.Errorf("%s is shown as %s, want %s", at, got, want)
		}
		if strings.Contains(got, "pw") {
			t.Errorf("%s shows the password: %s", at, got)
		}
	}
}
