// Package upgrade announces that the tables of a store are brought up to date, which may take long in a large one.
//
//	ctx = upgrade.Announced(ctx, func(store string, bytes int64) {
//		fmt.Fprintf(os.Stderr, "%s: %d bytes\n", store, bytes)
//	})
//	db, err := database.Open(ctx, path, tables)
//
// It promises only that: whether and how tables change does not depend on it.
package upgrade

import "context"

type key struct{}

// Announced returns a context in which opening a store calls announce before it changes tables of an earlier version. store is the
// location of the store without a password, bytes about the size of its data, 0 if that is not known.
func Announced(ctx context.Context, announce func(store string, bytes int64)) context.Context {
	return context.WithValue(ctx, key{}, announce)
}

// Begins announces that the tables of a store change now.
func Begins(ctx context.Context, store string, bytes int64) {
	if announce, ok := ctx.Value(key{}).(func(store string, bytes int64)); ok {
		announce(store, bytes)
	}
}
