// Package local finds the gate of this user that decides by the policy files that a program needs, or
// starts one.
//
//	f := &local.Finder{Want: want, Paths: []string{shared, own}, Self: peer.Own(), Start: start}
//	conn, err := f.Dial(ctx) // to a process that was checked, with the policy that was wanted
//
// A gate is accepted if its process is trusted (package peer) and its policy files are those that are
// wanted, with the same content. Of several programs that find none, one starts it.
package local
