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
	dir int    // file descriptor
	its string // path of what is said of the process: that of dir
}

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
	return &peer{cred.Pid, dir, "/proc/self/fd/" + strconv.Itoa(dir) + "/"}
}

func (p *peer) close() { syscall.Close(p.dir) }

// wrote reports whether the process wrote what came with a control message.
func (p *peer) wrote(control []byte) bool {
	list, err := syscall.ParseSocketControlMessage(control)
	if err != nil || len(list) != 1 {
		return false
	}
	cred, err := syscall.ParseUnixCredentials(&list[0])
	return err == nil && cred.Pid == p.pid && int(cred.Uid) == os.Geteuid()
}

// file says which one something is. The zero file is none.
type file struct{ dev, ino uint64 }

// places are the names in /proc of what two processes must have in common to see the same
// files, processes and users.
func places() [4]string { return [...]string{"root", "ns/mnt", "ns/pid", "ns/user"} }

// Self is what a process has in common with those that it believes: the file that it runs,
// and the files, processes and users that it sees. The zero Self believes nobody.
type Self struct {
	exe    file
	places [4]file
}

// Own looks at this process. What it finds holds while the process lives, which changes
// nothing of it; if somebody else gives it another root, it believes nobody any more who
// has that.
func Own() (s Self) {
	const own = "/proc/self/"
	s.exe = fileAt(own + "exe")
	for i, name := range places() {
		s.places[i] = fileAt(own + name)
	}
	return s
}

// Believes reports whether the process that made a connection is the other end of this
// protocol: of this user, running the file that this process runs, seeing what it sees.
func (s Self) Believes(fd uintptr) bool {
	p := peerOf(int(fd))
	if p == nil {
		return false
	}
	defer p.close()
	return s.is(p) && s.sees(p)
}

// is reports whether a process is alive and runs the very file that this one runs.
func (s Self) is(p *peer) bool { return s.exe != file{} && fileAt(p.its+"exe") == s.exe }

// sees reports whether a process sees the files, processes and users that this one sees.
func (s Self) sees(p *peer) bool {
	for i, name := range places() {
		if ours := s.places[i]; ours == (file{}) || fileAt(p.its+name) != ours {
			return false
		}
	}
	return true
}

// fileAt is what a name in /proc stands for.
func fileAt(name string) (f file) {
	var s syscall.Stat_t
	if syscall.Stat(name, &s) != nil {
		return f
	}
	return file{uint64(s.Dev), s.Ino}
}
