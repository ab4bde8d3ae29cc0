//go:build !unix

package jsonl

import "errors"

type osFS struct{}

func (osFS) Open(string) (File, error) {
	return nil, errors.New("audit logs need a system with file locks: Linux or macOS")
}

func (osFS) SyncDir(string) error { return nil }

func (osFS) Rename(string, string) error { return nil }

func (osFS) Link(string, string) error { return nil }

func (osFS) Remove(string) error { return nil }
