// Package resident answers hooks for the processes that coding agents start, in one process that
// caches what each of them would have to create: the compiled policy and the open store.
//
//	err := resident.Serve(ctx, resident.Options{Idle: 30 * time.Minute, Log: os.Stderr})
//
// It is a server of the decision API (package decide) with one route, /v1/hooks. It decides with the
// same code as a process of its own (package internal/hook/process), from the client's command line,
// working directory and a few variables of its environment, which are headers of the request. The
// policy files are read again for each event. Events that need judges or notifiers, that have no
// store, or whose command line has relative paths are left to the client.
//
// It answers only processes of the same user that see the same files. A client gets the answer to its
// own event or none; a request that is too long, too slow, or invalid gets none; and a panic is no
// answer. There is one resident for each user; a second one does not start.
package resident
