package ask

import (
	"os"
	"strconv"
	"syscall"
)

// peer is the process at the other end of a socket: a directory of /proc, which stands for
// that process alone, also when another one gets its number.
type peer struct {
	pid int32
	dir int // file descriptor
	exe file
}

// file says which one something is. The zero file is none.
type file struct{ dev, ino uint64 }

// places are the names in /proc of what two processes must have in common to see the same
// files, processes and users.
func places() []string { return []string{"root", "ns/mnt", "ns/pid", "ns/user"} }

const openPath = 0x200000 // O_PATH

// peerOf finds the process that made a connection, or that listens for it; nil for that of
// another user, and where nobody knows.
func peerOf(fd int) *peer {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || cred.Pid <= 0 || int(cred.Uid) != os.Geteuid() {
		return nil
	}
	dir, err := syscall.Open("/proc/"+strconv.Itoa(int(cred.Pid)), openPath|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &peer{cred.Pid, dir, own("exe")}
}

func (p *peer) close() { syscall.Close(p.dir) }

// runs reports whether the process is alive and runs the very file that this one runs.
func (p *peer) runs() bool { return p.exe != file{} && p.its("exe") == p.exe }

// sees reports whether the process sees the files, processes and users that this one sees.
func (p *peer) sees() bool {
	for _, name := range places() {
		if ours := own(name); ours == (file{}) || p.its(name) != ours {
			return false
		}
	}
	return true
}

// its is what a name in /proc stands for of the process.
func (p *peer) its(name string) (f file) {
	fd, err := syscall.Openat(p.dir, name, openPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return f
	}
	defer syscall.Close(fd)
	var s syscall.Stat_t
	if syscall.Fstat(fd, &s) != nil {
		return f
	}
	return file{uint64(s.Dev), s.Ino}
}

// own is what a name in /proc stands for of this process.
func own(name string) (f file) {
	var s syscall.Stat_t
	if syscall.Stat("/proc/self/"+name, &s) != nil {
		return f
	}
	return file{uint64(s.Dev), s.Ino}
}

// wrote reports whether the process wrote what came with a control message.
func (p *peer) wrote(control []byte) bool {
	list, err := syscall.ParseSocketControlMessage(control)
	if err != nil || len(list) != 1 {
		return false
	}
	cred, err := syscall.ParseUnixCredentials(&list[0])
	return err == nil && cred.Pid == p.pid && int(cred.Uid) == os.Geteuid()
}

// Believes reports whether the process that made a connection is the other end of this
// protocol: of this user, running the file that this process runs, seeing what it sees.
func Believes(fd uintptr) bool {
	p := peerOf(int(fd))
	if p == nil {
		return false
	}
	defer p.close()
	return p.runs() && p.sees()
}
