//go:build !unix

package database

import "errors"

// Elsewhere there are no file locks with a fair queue.
func openLock(string) (int, error) { return -1, errors.ErrUnsupported }
func tryLock(int) (bool, error)    { return false, errors.ErrUnsupported }
func waitLock(int) error           { return errors.ErrUnsupported }
func unlock(int)                   {}
func closeLock(int)                {}

func touchLock(int) {}
