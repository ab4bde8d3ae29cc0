// Package inputs has the flags by which commands name policy files, tool definitions, stores
// and records, and opens them.
//
//	var f inputs.Policy
//	f.Add(cmd)                  // --policy, --tools
//	l, err := f.Load(s.Err)     // finds, reads and compiles them
package inputs
