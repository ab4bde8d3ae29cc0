package process

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/once"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
)

// Cache is the state that a process keeps between events: compiled policies by all of their inputs,
// open stores, and registries of calls. The inputs of a decision are read again for each event: the
// bytes of the policy files, trust, orders and grants. It is safe for concurrent use.
type Cache struct {
	// Compile compiles policies with proofs.
	Compile func([]policy.Source, policy.Options) (*policy.Program, diag.List)

	mu         sync.Mutex
	programs   map[[sha256.Size]byte]*cachedProgram
	stores     []*cachedStore
	registries map[string]*once.Registry
	hosts      map[string]*hook.Host
	begun      map[string]beginning
	unclosed   []*os.File
	clock      int64 // counts uses
}

// Limits of the cache. Above them a program is compiled again, or the event is left to the client.
const (
	maxPrograms   = 32
	maxStores     = 8
	maxRegistries = 64
	maxBegun      = 1024
)

type cachedProgram struct {
	program  *policy.Program
	bindings *gate.Bindings
	used     int64
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
	p := k.known(key, &cachedProgram{program: program, bindings: new(gate.Bindings)})
	return p.program, p.bindings, mistakes
}

// known returns the program of a key, which is added if there is none yet.
func (k *Cache) known(key [sha256.Size]byte, made *cachedProgram) *cachedProgram {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.programs[key]
	if p == nil && made != nil {
		if k.programs == nil {
			k.programs = make(map[[sha256.Size]byte]*cachedProgram)
		}
		for len(k.programs) >= maxPrograms {
			var oldest [sha256.Size]byte
			first := int64(-1)
			for other, q := range k.programs {
				if first < 0 || q.used < first {
					oldest, first = other, q.used
				}
			}
			delete(k.programs, oldest)
		}
		k.programs[key], p = made, made
	}
	if p != nil {
		k.clock++
		p.used = k.clock
	}
	return p
}

// registry returns the registry of calls that are being decided.
func (k *Cache) registry(dir, rules string) *once.Registry {
	if k == nil {
		return once.At(dir, rules)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := dir + "\x00" + rules
	if d := k.registries[key]; d != nil {
		return d
	}
	if k.registries == nil || len(k.registries) >= maxRegistries {
		k.registries = make(map[string]*once.Registry)
	}
	d := once.At(dir, rules)
	k.registries[key] = d
	return d
}

// host returns a host by its name.
func (k *Cache) host(name string) (*hook.Host, error) {
	if k == nil {
		return hook.Lookup(name)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.hosts[name]; h != nil {
		return h, nil
	}
	h, err := hook.Lookup(name)
	if err == nil {
		if k.hosts == nil {
			k.hosts = make(map[string]*hook.Host)
		}
		k.hosts[name] = h
	}
	return h, err
}

// beginning is the content of a file of [projects], with its metadata.
type beginning struct {
	file fs.FileInfo
	dir  string
}

// began returns the content of a file that is written once, if the file is still the same.
func (k *Cache) began(path string, now fs.FileInfo) (dir string, ok bool) {
	if k == nil {
		return "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.begun[path]
	return b.dir, ok && os.SameFile(b.file, now) && b.file.ModTime().Equal(now.ModTime()) && b.file.Size() == now.Size() && b.file.Mode() == now.Mode()
}

func (k *Cache) keepBeginning(path string, file fs.FileInfo, dir string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.begun == nil || len(k.begun) >= maxBegun {
		k.begun = make(map[string]beginning)
	}
	k.begun[path] = beginning{file, dir}
}
