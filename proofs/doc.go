// Package proofs has a model of the protocol by which gates that share a PostgreSQL store release
// calls, for the model checker spin: release.pml. Its tests check every interleaving of the
// model, that mistakes which are seeded into it are found, and that the statements quoted in it
// are those of the store.
package proofs
