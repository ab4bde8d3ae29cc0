// Package bundle reads and writes signed policy bundles: all files that the decisions of a gate
// depend on, as one archive with a signature next to it.
//
//	b, err := bundle.Build(bundle.Content{Generation: 7, Created: created, Files: files})
//	signature := bundle.Sign(b, key)
//	...
//	b, err := bundle.Open(archive, signature, keys)
//
// An archive is an uncompressed tar file: manifest.json, then the files by name, then, in a
// roll-out in steps, the archive of the generation before. It has exactly one form: names are
// sorted, modes, owners and times are fixed, and [Read] accepts only the bytes that [Build] makes
// of what it read. So an archive that is truncated, padded, reordered, compressed or has links,
// other paths or entries twice is refused, and its SHA-256 identifies its content.
//
// The signature is that of minisign: `minisign -V` verifies it, and keys of `minisign -G` make it.
// Its trusted comment names generation and digest. [Open] verifies it before it parses anything.
package bundle
