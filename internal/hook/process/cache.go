package process

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
)

// Cache is the state that a process keeps between events: compiled policies by all of their inputs,
// and open stores. The inputs of a decision are read again for each event: the
// bytes of the policy files, trust, orders and grants. It is safe for concurrent use.
type Cache struct {
	// Compile compiles policies with proofs.
	Compile func([]policy.Source, policy.Options) (*policy.Program, diag.List)

	// Fetch returns the function that fetches the policy bundles of a channel.
	Fetch func(bundles.Settings) bundles.Fetch

	mu       sync.Mutex
	programs map[[sha256.Size]byte]*cachedProgram
	stores   []*cachedStore
	unclosed []*os.File
}

// Limits of the cache. Above them all programs are compiled again, or the event is left to the client.
const (
	maxPrograms = 32
	maxStores   = 8
)

type cachedProgram struct {
	program  *policy.Program
	bindings *gate.Bindings
}

// compile returns the program of some files under some options, compiled if it is not cached. A
// program with mistakes is never cached.
func (k *Cache) compile(set config.Set, o policy.Options, compile func() (*policy.Program, diag.List)) (*policy.Program, *gate.Bindings, diag.List) {
	if k == nil {
		program, mistakes := compile()
		return program, nil, mistakes
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %t %t %t %d %s\n", o.Root, o.Home, o.Dir, o.Run, o.RunDoubt, o.RunLost, o.Strict, o.UnknownTool, digest(o.Settings))
	if set.Rollout != nil {
		fmt.Fprintf(sum, "%d %s ", set.Rollout.Bundle.Generation, set.Rollout.Bundle.Digest)
	}
	for _, f := range set.Files {
		fmt.Fprintf(sum, "%q %t %q %s ", f.Path, f.Trusted, f.Root, f.Hash)
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	if p := k.known(key, nil); p != nil {
		return p.program, p.bindings, nil
	}
	program, mistakes := compile()
	if program == nil || mistakes.HasErrors() {
		return program, nil, mistakes
	}
	p := k.known(key, &cachedProgram{program, new(gate.Bindings)})
	return p.program, p.bindings, mistakes
}

// known returns the program of a key, which is added if there is none yet.
func (k *Cache) known(key [sha256.Size]byte, made *cachedProgram) *cachedProgram {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.programs[key]; p != nil || made == nil {
		return p
	}
	if k.programs == nil || len(k.programs) >= maxPrograms {
		k.programs = make(map[[sha256.Size]byte]*cachedProgram)
	}
	k.programs[key] = made
	return made
}
