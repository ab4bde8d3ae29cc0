// Package evaluate has the commands that evaluate calls which do not run: decide, explain and test.
package evaluate
