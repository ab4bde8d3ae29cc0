// Package kinds opens stores by their URLs. Its table has a row for every kind of store; no
// other package names one.
//
//	s, err := kinds.Open(ctx, "stopgate.db", backend.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
	"github.com/stopgate/stopgate/internal/record/spool"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/location"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// table has the kinds of stores. The first is that of a location without a scheme, a path.
var table = [...]struct {
	schemes []string // of its URLs
	open    func(ctx context.Context, location string, o backend.Options) (backend.Store, error)
	// spool keeps a row of a denial for the next process that opens the store, without opening it.
	spool func(location string, o backend.Options, row *stopgate.Record) error
}{
	{[]string{"sqlite", "file"}, openSQLite, spoolSQLite},
}

// Known reports whether there is a kind of stores with a scheme.
func Known(scheme string) bool { return indexOf(scheme) >= 0 }

func indexOf(scheme string) int {
	for i := range table {
		if slices.Contains(table[i].schemes, scheme) {
			return i
		}
	}
	return -1
}

// Open opens or creates the store at a location: a path, or a URL of a kind that is not in a
// file. It stops waiting for other processes when ctx ends.
func Open(ctx context.Context, at string, o backend.Options) (backend.Store, error) {
	i, err := kindOf(at)
	if err != nil {
		return nil, err
	}
	return table[i].open(ctx, at, o)
}

// Spool keeps the row of a denial for a store that may be unavailable: the next process that opens
// the store adds it to the records.
func Spool(at string, o backend.Options, row *stopgate.Record) error {
	if !location.IsFile(at) {
		return spoolLocally(o.Local, row)
	}
	i, err := kindOf(at)
	if err != nil {
		return err
	}
	return table[i].spool(at, o, row)
}

// spoolLocally keeps a row on this machine, without its arguments, for a store on a server.
func spoolLocally(local string, row *stopgate.Record) error {
	body, err := auditrow.Encode("", row)
	if err != nil {
		return err
	}
	line, err := spool.Row{Record: json.RawMessage(body)}.Line()
	if err != nil {
		return err
	}
	return spool.At(local).Append(line)
}

// kindOf returns the row of the table for a location.
func kindOf(at string) (int, error) {
	if location.IsFile(at) {
		return 0, nil
	}
	i := indexOf(location.Server(at))
	if i < 0 {
		return 0, fmt.Errorf("store %s: this program has no stores of the kind %q", location.Show(at), location.Server(at))
	}
	return i, nil
}

// conversations has another name than the method that it is embedded for.
type conversations = mem.Conversations

// Memory returns a State in the memory of the process, for tests and for programs whose
// sessions end with them.
func Memory() backend.State {
	return struct {
		*mem.Store
		*mem.Approvals
		*conversations
	}{mem.New(), new(mem.Approvals), new(conversations)}
}
