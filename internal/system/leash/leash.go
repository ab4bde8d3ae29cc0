// Package leash kills process groups when the process that started them ends, even if it is killed.
//
//	var l leash.Leash
//	err := l.Start()
//	defer l.Close()
//	cmd.Start()
//	release := l.Hold(cmd.Process.Pid) // the leader of a group of its own
//	cmd.Wait()
//	release()
//
// A small shell in a session of its own reads from a pipe, which only this process holds open. At
// the end of the pipe it kills the groups that are still held. A process that leaves its group is
// not killed, as with every other way to kill a group. A process that is killed between the start
// of a group and Hold, a matter of microseconds, leaves the group running.
package leash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// script stores the held groups, and kills them at the end of its input.
const script = `trap '' HUP INT QUIT TERM
held=" "
while read -r command id; do
	case $command in
	+) held="$held$id " ;;
	-) held="${held%% $id *} ${held#* $id }" ;;
	esac
done
for id in $held; do kill -s KILL -- "-$id"; done`

// Leash holds process groups. The zero value is ready to use. It is safe for concurrent use.
type Leash struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	pipe  *os.File
	err   error
	ended bool
}

var errClosed = errors.New("leash: closed")

// Start starts the shell in advance of the first Hold.
func (l *Leash) Start() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.start()
}

// start starts the shell, once. The caller holds l.mu.
func (l *Leash) start() error {
	if l.ended {
		return errClosed
	}
	if l.cmd != nil || l.err != nil {
		return l.err
	}
	input, pipe, err := os.Pipe()
	if err != nil {
		l.err = fmt.Errorf("leash: %w", err)
		return l.err
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{}, input
	cmd.SysProcAttr = newSession()
	if err := cmd.Start(); err != nil {
		l.err = errors.Join(fmt.Errorf("leash: %w", err), input.Close(), pipe.Close())
		return l.err
	}
	input.Close()
	l.cmd, l.pipe = cmd, pipe
	return nil
}

// Hold kills a process group when this process ends, unless it is released before. It must be
// released before the number of the group can be reused. If the shell cannot be started, Hold has
// no effect.
func (l *Leash) Hold(group int) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start() != nil || l.send("+", group) != nil {
		return func() {}
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if !l.ended {
				_ = l.send("-", group)
			}
		})
	}
}

// send sends a command to the shell. The caller holds l.mu.
func (l *Leash) send(command string, group int) error {
	_, err := fmt.Fprintf(l.pipe, "%s %d\n", command, group)
	return err
}

// Close ends the shell, and kills the groups that are held.
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
