package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
)

// Found is a coding agent of this machine.
type Found struct {
	Host      *hook.Host
	Installed bool // its settings have a hook of stopgate
}

// FindHosts lists the coding agents of which there is a program or a directory of settings.
func FindHosts() (list []Found) {
	for _, h := range hook.All() {
		p, err := (&installFlags{}).at(h.Name)
		if err != nil {
			continue
		}
		text, _ := readSettings(p.File)
		_, home := os.Stat(p.Home())
		_, program := exec.LookPath(h.Program)
		if installed := len(p.Lines(text)) > 0; installed || home == nil || program == nil {
			list = append(list, Found{h, installed})
		}
	}
	return list
}

// Programs returns the program that answers hooks, and this program, by paths that stay when it is updated.
func Programs() (hooks install.Command, gate string, err error) {
	if hooks, err = (&installFlags{}).command(); err != nil {
		return hooks, "", err
	}
	gate = hooks.Program
	if hooks.Small {
		gate = filepath.Join(filepath.Dir(gate), strings.Replace(filepath.Base(gate), process.SmallName, "stopgate", 1))
	}
	if at, err := os.Stat(gate); err != nil || !at.Mode().IsRegular() {
		return hooks, "", fmt.Errorf("find this program: %s is no file", gate)
	}
	return hooks, gate, nil
}
