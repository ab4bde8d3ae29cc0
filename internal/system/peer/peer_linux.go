package peer

import (
	"os"
	"strconv"
	"sync"
	"syscall"
)

// process is the process at the other end of a socket, as a directory of /proc, which stays bound to
// that process even if its number is reused.
type process struct {
	pid int32
	mu  sync.RWMutex
	dir int    // file descriptor, -1 once closed
	its string // path of files in dir
}

const openPath = 0x200000 // O_PATH

// processOf returns the process that made a connection, or that listens for it; nil if it is of
// another user, or unknown.
func processOf(fd int) *process {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || cred.Pid <= 0 || int(cred.Uid) != os.Geteuid() {
		return nil
	}
	dir, err := syscall.Open("/proc/"+strconv.Itoa(int(cred.Pid)), openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &process{pid: cred.Pid, dir: dir, its: "/proc/self/fd/" + strconv.Itoa(dir) + "/"}
}

// close may be called while files of the directory are looked at, and twice.
func (p *process) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir >= 0 {
		syscall.Close(p.dir)
		p.dir = -1
	}
}

// file returns the file that a name in the directory of the process refers to.
func (p *process) file(name string) file {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.dir < 0 {
		return file{}
	}
	return fileAt(p.its + name)
}

// ending reports whether the process runs no program any more, or is gone. A process that is killed loses its
// program before its sockets.
func (p *process) ending() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	var s syscall.Stat_t
	err := syscall.Stat(p.its+"exe", &s)
	return p.dir >= 0 && (err == syscall.ENOENT || err == syscall.ESRCH)
}

// wrote reports whether the process wrote the message with a control message.
func (p *process) wrote(control []byte) bool {
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
	programs   []file // the file that it runs, and further files that it trusts
	namespaces [4]file
}

// Own returns the identity of this process, which also trusts processes that run one of the further
// program files. It does not change while the process lives; if its root is changed from outside,
// processes with the new root are not trusted.
func Own(further ...string) (s Self) {
	const own = "/proc/self/"
	s.programs = append(s.programs, fileAt(own+"exe"))
	for _, path := range further {
		s.programs = append(s.programs, fileAt(path))
	}
	for i, name := range namespaces() {
		s.namespaces[i] = fileAt(own + name)
	}
	return s
}

// Serves reports whether the process at the other end of a connection may ask this one: it belongs
// to this user, and has the same root and namespaces, so that paths mean the same to both.
func (s Self) Serves(fd uintptr) bool {
	p := processOf(int(fd))
	if p == nil {
		return false
	}
	defer p.close()
	return s.sees(p)
}

// runs reports whether a process is alive and runs one of the program files.
func (s Self) runs(p *process) bool {
	f := p.file("exe")
	if f == (file{}) {
		return false
	}
	for _, program := range s.programs {
		if f == program {
			return true
		}
	}
	return false
}

// sees reports whether a process has the root and namespaces of this one.
func (s Self) sees(p *process) bool {
	for i, name := range namespaces() {
		if own := s.namespaces[i]; own == (file{}) || p.file(name) != own {
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
