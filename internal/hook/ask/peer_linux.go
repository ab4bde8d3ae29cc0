package ask

import (
	"os"
	"strconv"
	"syscall"
)

// peer is the process at the other end of a socket, as a directory of /proc, which stays bound to
// that process even if its number is reused.
type peer struct {
	pid int32
	dir int    // file descriptor
	its string // path of files in dir
}

const openPath = 0x200000 // O_PATH

// peerOf returns the process that made a connection, or that listens for it; nil if it is of
// another user, or unknown.
func peerOf(fd int) *peer {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || cred.Pid <= 0 || int(cred.Uid) != os.Geteuid() {
		return nil
	}
	dir, err := syscall.Open("/proc/"+strconv.Itoa(int(cred.Pid)), openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &peer{cred.Pid, dir, "/proc/self/fd/" + strconv.Itoa(dir) + "/"}
}

func (p *peer) close() { syscall.Close(p.dir) }

// wrote reports whether the process wrote the message with a control message.
func (p *peer) wrote(control []byte) bool {
	list, err := syscall.ParseSocketControlMessage(control)
	if err != nil || len(list) != 1 {
		return false
	}
	cred, err := syscall.ParseUnixCredentials(&list[0])
	return err == nil && cred.Pid == p.pid && int(cred.Uid) == os.Geteuid()
}

// file identifies a file. The zero file is none.
type file struct{ dev, ino uint64 }

// namespaces returns the names in /proc of the objects that two processes must share to see the
// same files, processes and users.
func namespaces() [4]string { return [...]string{"root", "ns/mnt", "ns/pid", "ns/user"} }

// Self is the identity of this process: the files of the program, and the root and namespaces of the
// process. The zero Self trusts no process.
type Self struct {
	programs   [2]file // the file that it runs, and the stopgate in the same directory
	namespaces [4]file
}

// Own returns the identity of this process. It does not change while the process lives; if its root
// is changed from outside, processes with the new root are not trusted.
func Own() (s Self) {
	const own = "/proc/self/"
	s.programs[0] = fileAt(own + "exe")
	if full, err := Full(); err == nil {
		s.programs[1] = fileAt(full)
	}
	for i, name := range namespaces() {
		s.namespaces[i] = fileAt(own + name)
	}
	return s
}

// Serves reports whether the process at the other end of a connection may ask this one: it belongs
// to this user, and has the same root and namespaces, so that paths mean the same to both.
func (s Self) Serves(fd uintptr) bool {
	p := peerOf(int(fd))
	if p == nil {
		return false
	}
	defer p.close()
	return s.sees(p)
}

// believes reports whether a process is alive and runs the file of this program, or of the stopgate
// to which this program would leave what it cannot do.
func (s Self) believes(p *peer) bool {
	f := fileAt(p.its + "exe")
	return f != (file{}) && (f == s.programs[0] || f == s.programs[1])
}

// sees reports whether a process has the root and namespaces of this one.
func (s Self) sees(p *peer) bool {
	for i, name := range namespaces() {
		if own := s.namespaces[i]; own == (file{}) || fileAt(p.its+name) != own {
			return false
		}
	}
	return true
}

// fileAt returns the file that a name in /proc refers to.
func fileAt(name string) (f file) {
	var s syscall.Stat_t
	if syscall.Stat(name, &s) != nil {
		return f
	}
	return file{uint64(s.Dev), s.Ino}
}
