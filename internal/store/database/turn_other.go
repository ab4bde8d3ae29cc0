//go:build !unix

package database

import "errors"

// Without a lock that wakes who waits there is no line.
func openTurn(string) (int, error) { return -1, errors.ErrUnsupported }
func tryTurn(int) (bool, error)    { return false, errors.ErrUnsupported }
func awaitTurn(int) error          { return errors.ErrUnsupported }
func passTurn(int)                 {}
func closeTurn(int)                {}

func markTurn(int) {}
