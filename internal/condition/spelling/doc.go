// Package spelling has the spellings under which a suspicious condition reads a text: without case
// and compatibility characters, without invisible code points, percent-decoded (C6-C16, K21).
package spelling
