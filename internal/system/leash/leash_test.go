package leash_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/system/leash"
)

// The test binary is also the process that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "be" {
		be()
		return
	}
	os.Exit(m.Run())
}

// be starts three groups, releases one, and waits to be killed.
func be() {
	var l leash.Leash
	if err := l.Start(); err != nil {
		fmt.Println(err)
		return
	}
	var pids []any
	for i := range 3 {
		cmd := exec.Command("/bin/sh", "-c", "trap '' TERM HUP; sleep 1000 & echo $!; wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		child, _ := bufio.NewReader(out).ReadString('\n')
		pids = append(pids, cmd.Process.Pid, strings.TrimSpace(child))
		if release := l.Hold(cmd.Process.Pid); i == 1 {
			release()
			release()
		}
	}
	fmt.Println(pids...)
	select {}
}

// alive reports whether a process is running.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ") // an orphan may stay a zombie here
}

func dies(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d still runs", pid)
		}
	}
}

// Held groups end with a killed process, with all their children; released groups continue.
func TestKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0], "be")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pids [6]int
	if _, err := fmt.Sscan(line, &pids[0], &pids[1], &pids[2], &pids[3], &pids[4], &pids[5]); err != nil {
		t.Fatal(err, line)
	}
	defer syscall.Kill(-pids[2], syscall.SIGKILL)
	cmd.Process.Kill()
	cmd.Wait()
	for _, i := range []int{0, 1, 4, 5} {
		dies(t, pids[i])
	}
	if !alive(pids[2]) || !alive(pids[3]) {
		t.Error("what was released is gone too")
	}
}

// Close kills the held groups; later calls hold nothing.
func TestClose(t *testing.T) {
	var l leash.Leash
	cmd := exec.Command("/bin/sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	release := l.Hold(cmd.Process.Pid)
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Wait()
	release()
	l.Hold(os.Getpid())()
	if l.Start() == nil {
		t.Error("it was closed")
	}
	var never leash.Leash
	if err := never.Close(); err != nil {
		t.Error(err)
	}
}
