// Package leash ends process groups when the process that started them is gone, however
// it went: also when it was killed and could end nothing itself.
//
//	var l leash.Leash
//	err := l.Start()
//	defer l.Close()
//	cmd.Start()
//	release := l.Hold(cmd.Process.Pid) // the leader of a group of its own
//	cmd.Wait()
//	release()
//
// A small shell waits at the other end of a pipe, in a session of its own. When the
// pipe ends it kills what is still held: nobody else can end that pipe. What leaves its
// process group is not held any more, as with every other way to end a group; and a
// process that is killed between the start of a group and Hold, which is microseconds
// later, leaves it behind.
package leash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// script keeps the groups that are held, and kills them when its input ends.
const script = `trap '' HUP INT QUIT TERM
held=" "
while read -r what id; do
	case $what in
	+) held="$held$id " ;;
	-) held="${held%% $id *} ${held#* $id }" ;;
	esac
done
for id in $held; do kill -s KILL -- "-$id"; done`

// Leash holds process groups. The zero value is ready. It is safe for concurrent use.
type Leash struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	pipe  *os.File
	err   error
	ended bool
}

var errClosed = errors.New("leash: it is closed")

// Start starts the shell, so that the first Hold need not.
func (l *Leash) Start() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.start()
}

// start starts the shell, once; l.mu is held.
func (l *Leash) start() error {
	if l.ended {
		return errClosed
	}
	if l.cmd != nil || l.err != nil {
		return l.err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		l.err = fmt.Errorf("leash: %w", err)
		return l.err
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{}, theirs
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		l.err = errors.Join(fmt.Errorf("leash: %w", err), theirs.Close(), ours.Close())
		return l.err
	}
	theirs.Close()
	l.cmd, l.pipe = cmd, ours
	return nil
}

// Hold has a process group end with this process, until it is released: before its
// number can be another one's. Where that cannot be had, the group is as it was.
func (l *Leash) Hold(group int) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start() != nil || l.say("+", group) != nil {
		return func() {}
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if !l.ended {
				_ = l.say("-", group)
			}
		})
	}
}

// say tells the shell something; l.mu is held.
func (l *Leash) say(what string, group int) error {
	_, err := fmt.Fprintf(l.pipe, "%s %d\n", what, group)
	return err
}

// Close ends the shell, and with it the groups that are held.
func (l *Leash) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.cmd == nil {
		l.ended = true
		return nil
	}
	l.ended = true
	return errors.Join(l.pipe.Close(), l.cmd.Wait())
}
