package service

import (
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/backend"
	models "github.com/stopgate/stopgate/judge"
)

// Judges makes the judges that policy files configure. Their objections are kept in the store,
// if there is one.
func Judges(store backend.Store) gate.Option {
	var o models.Options
	if store != nil {
		o.Objections = store
	}
	return gate.WithJudges(models.New(o).Judge)
}
