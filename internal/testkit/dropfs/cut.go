package dropfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Cut cuts the power: it returns the file system as the next start finds it.
// Every unsynced change survives, is torn or is lost on its own, as rng says;
// open files of the old file system mean nothing to the new one. A name that was
// not synced survives or not.
func (f *FS) Cut(rng *rand.Rand) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	after := &FS{names: map[string]*inode{}, disk: map[string]*inode{}}
	survivors := map[*inode]*inode{} // a file with two names stays one
	keep := func(name string, node *inode) {
		if survivors[node] == nil {
			survivors[node] = node.survive(rng)
		}
		after.names[name] = survivors[node]
	}
	for _, name := range slices.Sorted(maps.Keys(f.disk)) {
		keep(name, f.disk[name])
	}
	for _, name := range slices.Sorted(maps.Keys(f.names)) {
		if node := f.names[name]; f.disk[name] != node && rng.IntN(2) == 0 {
			keep(name, node)
		}
	}
	for name, node := range after.names {
		after.disk[name] = node
	}
	return after
}

func (n *inode) survive(rng *rand.Rand) *inode {
	data := append([]byte(nil), n.disk...)
	for _, c := range n.pend {
		if c.lost {
			continue
		}
		if c.data == nil {
			if rng.IntN(2) == 0 && c.at < len(data) {
				data = data[:c.at]
			}
			continue
		}
		data = c.tear(data, rng)
	}
	return &inode{view: data, disk: append([]byte(nil), data...)}
}

// tear applies a part of a write: all of it, a front part, or any of its sectors,
// with zeros for those that are missing below the file's new size.
func (c change) tear(data []byte, rng *rand.Rand) []byte {
	end := c.at + len(c.data)
	switch rng.IntN(4) {
	case 0:
		return data
	case 1:
		return put(data, c.at, c.data)
	case 2:
		return put(data, c.at, c.data[:rng.IntN(len(c.data)+1)])
	}
	for at := c.at; at < end; {
		next := min((at/Sector+1)*Sector, end)
		if rng.IntN(2) == 0 {
			data = put(data, at, c.data[at-c.at:next-c.at])
		}
		at = next
	}
	if rng.IntN(2) == 0 && len(data) < end {
		data = put(data, end, nil)
	}
	return data
}

// put writes into a file, with zeros in front of a write behind its end.
func put(data []byte, at int, b []byte) []byte {
	if missing := at + len(b) - len(data); missing > 0 {
		data = append(data, make([]byte, missing)...)
	}
	copy(data[at:], b)
	return data
}
