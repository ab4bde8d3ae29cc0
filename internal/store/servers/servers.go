// Package servers opens stores of every kind by their locations: those on servers by its own table,
// files by package kinds. Programs that are started for every call link only the latter.
//
//	s, err := servers.Open(ctx, "postgres://gate@db.internal/stopgate", backend.Options{Gate: "a"})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
package servers

import (
	"context"

	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/store/location"
)

// table has the kinds of stores on servers; see [location.Server].
var table = map[string]func(ctx context.Context, at string, o backend.Options) (backend.Store, error){
	"postgres": openPostgres,
}

// Open opens or creates the store at a location. It stops waiting for servers and other processes
// when ctx ends.
func Open(ctx context.Context, at string, o backend.Options) (backend.Store, error) {
	if open := table[location.Server(at)]; open != nil {
		return open(ctx, at, o)
	}
	return kinds.Open(ctx, at, o)
}
