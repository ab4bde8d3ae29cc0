// Package traces records what the gate does in golden files, so that a change of its
// inside that changes a verdict, a byte or an audit row is seen: the status, mode, code,
// text and byte of decision of each call, the bytes that were released and the audit rows
// without ids, times and hashes.
//
// testdata/generated.jsonl.gz has the traces of 20,000 generated calls in full.
// testdata/recorded.txt has a hash for each recorded call and stream of the collection
// beside the checkout, by file and line. After a change that is meant,
//
//	go test ./internal/testkit/traces -update
//
// writes both anew, and the commit says why. STOPGATE_TRACES=DIR also writes the traces
// behind the hashes to DIR: two checkouts are compared with diff.
package traces
