// Package plaintext has the conditions on plain strings: literals, globs, patterns and lengths,
// which are decided while a string arrives, at the first code point after which no continuation can
// change the result (K10). A restrictive one also tests the additional forms of a string (K21).
package plaintext
