package operate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/system/secret"
)

// sealKey returns the secret that seals snapshots of sessions.
func sealKey(ctx context.Context, st *service.State) ([]byte, error) {
	return keptKey(ctx, st, "snapshots", ".seal")
}

// keptKey returns the secret of a name. It outlives the process: a store on a server keeps it for all
// its gates, any other has a file next to it whose name ends in suffix. A store in memory has a fresh
// one.
func keptKey(ctx context.Context, st *service.State, name, suffix string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	if st.Settings.Store == place.Memory {
		return fresh, nil
	}
	if shared, ok := st.Store.(backend.Keys); ok {
		return shared.Key(ctx, name, fresh)
	}
	path := st.Settings.Local + suffix
	err := atomicfile.Create(path, fresh, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		key, err := secret.ReadFile(path)
		if err == nil && len(key) != len(fresh) {
			err = fmt.Errorf("%s is no key of 32 bytes", path)
		}
		return key, err
	case err != nil:
		return nil, fmt.Errorf("key of %s: %w", name, err)
	}
	return fresh, nil
}
