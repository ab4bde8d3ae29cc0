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

// Kept is what a process keeps that answers many events: compiled policies by all that
// they were made of, open stores, and who decides about which call. What an event is
// decided by is read anew for each: the bytes of the policy files, what is trusted, orders
// and grants. The zero Kept is empty, and safe for concurrent use.
type Kept struct {
	mu       sync.Mutex
	programs map[[sha256.Size]byte]*keptProgram
	stores   []*keptStore
	desks    map[string]*once.Desk
	hosts    map[string]*hook.Host
	begun    map[string]beginning
	unclosed []*os.File
	clock    int64 // counts uses
}

// Bounds of what is kept. What does not fit is made anew, or left to the asker.
const (
	maxPrograms = 32
	maxStores   = 8
	maxDesks    = 64
	maxBegun    = 1024
)

type keptProgram struct {
	program  *policy.Program
	bindings *gate.Bindings
	used     int64
}

// compile finds the program of some files under some options, or makes it. A program
// with mistakes is never kept.
func (k *Kept) compile(set config.Set, o policy.Options, compile func() (*policy.Program, diag.List)) (*policy.Program, *gate.Bindings, diag.List) {
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
	p := k.known(key, &keptProgram{program: program, bindings: new(gate.Bindings)})
	return p.program, p.bindings, mistakes
}

// known returns the program of a key, which is kept if there is none yet.
func (k *Kept) known(key [sha256.Size]byte, made *keptProgram) *keptProgram {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.programs[key]
	if p == nil && made != nil {
		if k.programs == nil {
			k.programs = make(map[[sha256.Size]byte]*keptProgram)
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

// desk is where it is known who decides about a call.
func (k *Kept) desk(dir, rules string) *once.Desk {
	if k == nil {
		return once.At(dir, rules)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := dir + "\x00" + rules
	if d := k.desks[key]; d != nil {
		return d
	}
	if k.desks == nil || len(k.desks) >= maxDesks {
		k.desks = make(map[string]*once.Desk)
	}
	d := once.At(dir, rules)
	k.desks[key] = d
	return d
}

// host is a host by its name.
func (k *Kept) host(name string) (*hook.Host, error) {
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

// beginning is what a file of [projects] says, and what was read.
type beginning struct {
	file fs.FileInfo
	dir  string
}

// began is what was read of a file that is written once, if it is that file still.
func (k *Kept) began(path string, now fs.FileInfo) (dir string, ok bool) {
	if k == nil {
		return "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.begun[path]
	return b.dir, ok && os.SameFile(b.file, now) && b.file.ModTime().Equal(now.ModTime()) && b.file.Size() == now.Size() && b.file.Mode() == now.Mode()
}

func (k *Kept) keepBeginning(path string, file fs.FileInfo, dir string) {
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
