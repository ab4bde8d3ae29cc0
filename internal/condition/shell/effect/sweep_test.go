package effect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
)

// Proves K0a: Sweeps yields the directories that a command reads without naming their files. A
// directory is listed as written, "." if none is written; ~ is "hidden files too", ? "from
// anywhere", > "after cd", @ "renamed", + "or a file".
func TestSweeps(t *testing.T) {
	for line, want := range map[string]string{
		"grep -r key .": "~.", "grep -rn key src docs": "~src ~docs", "grep key a b": "", "grep -nr -e key src": "~src", "grep --recursive key": "~.",
		"grep --dereference-r key": "~.", "grep -eerror src": "", "grep -d recurse key src": "~src", "grep -rA 3 key": "~.", "cp -r -t /x src": "@/x @src", "egrep -R key /": "~/", "GREP -r key x": "~x",
		"rg key": ".", "rg key src": "src", "rg -. key": "~.", "rg --hid key src": "~src", "rg -L key src": "~src", "rg -nL key": "~.", "rg --foll key src": "~src", "rg -e L src": "src", "ag -f key src": "~src", "rg -uu key": "~.", "rg -g '*.go' key": ".", "rg --glob '*.go' key src": "src", "rg -g '*.local' key": "~.", "rg -g '!x' key": ".", "rg --iglob '*.go' key": "~.", "rg -n --type go key src": "src", "rg -C3 key src": "src", "rg -- -x src": "src",
		"rg --files": "", "cat a | rg key": "", "cat a | grep -r key": "~.", "cat a | rg key src": "src", "rg key < a": "", "ag key": ".", "ag -u key": "~.", "ack key lib": "~lib",
		"find . -name x": "", "find . -exec cat {} +": "~.", "find -L a b -exec grep x {} \\;": "~a ~b", "find -exec cat {} \\;": "~.", "find . -exec wc -l {} +": "",
		"find . -exec rm {} +": "", "find . -exec timeout 5 cat {} \\;": "~.", "find . -exec cat x \\;": "", "fd -x cat": "~. ~cat", "fd x -X cat": "~. ~x ~cat", "fd x": "",
		"ls | xargs cat": "~?", "ls | xargs wc -l": "~?", "ls | xargs wc -l --": "", "ls | xargs du": "~?", "ls | xargs file": "~?", "ls | xargs ls": "", "find . -print0 | xargs -0 wc -l": "", "find . | xargs -0 wc": "~?", "find . -print0 | xargs wc": "~?",
		"find . -printf %p -print0 | xargs -0 wc": "~?", "ls; xargs -0 wc": "~?", "find . -print0 | cat | xargs -0 wc": "~?", "ls | xargs -I-- wc --": "~?", "ls | xargs --replace=-- wc --": "~?", "ls | xargs -I% wc % --": "~?", "xargs -n 1 base64 < list": "~?", "cat a b": "", "ls -R": "", "tree": "",
		"git log": "", "git log -p": "~.", "git log --patch -- src": "~src", "git -C x log -p": "~>.", "git grep key": "~.", "git archive HEAD": "~.", "git show HEAD": "", "git diff": "",
		"tar c .": "~c ~.", "tar -czf a.tgz src": "~a.tgz ~src", "tar xf a.tar": "", "tar tf a.tar": "", "tar --create src": "~src", "zip -r a.zip src": "~a.zip ~src",
		"cp -r src /tmp": "@src", "cp -a a b /tmp": "@a @b", "cp a b": "", "rsync -a src host:": "~src", "diff -r a b": "~a ~b", "diff a.go b.go": "", "diff Makefile m.orig": "",
		// Two directories: files with the same name on both sides, and with -N those of one side.
		"diff a b": "~a ~b", "diff -N a.d b.d": "~a.d ~b.d", "diff --new a.d b.d": "~a.d ~b.d", "diff --unidirectional-new-file a.d b.d": "~a.d ~b.d", "diff . a.d": "~. ~a.d", "diff a.d/ b.d": "~a.d/ ~b.d",
		// Names in a list.
		"sort --files0-from=list": "~?", "sort --files=list": "~?", "sort list": "", "strings @list": "~?", "strings a": "", "tar cT list": "~? ~cT ~list", "tar -c --files-from=list": "~? ~.", "zip a.zip -@": "~? ~a.zip",
		"rsync --files-from=list . h:": "~? ~.", "7z a x.7z @list": "~? ~a ~x.7z ~@list", "find . | cpio -o": "~?", "pax -rw a b": "~?",
		// Two directories without a repository, history in clusters of letters, several changes.
		"git diff --no-index a b": "~diff ~a ~b", "git diff e /srv": "~diff ~e ~/srv", "git diff ../a b": "~diff ~../a ~b", "git diff HEAD~1 -- a": "", "git diff main..dev": "", "git log -zp": "~.", "git log -wU1": "~.", "git log -n5 --pretty=x": "",
		"git log -Spu": "", "git log --binary": "~.", "git log --remerge-diff": "~.", "git log --diff-merges=on": "~.", "git log --pat": "~.", "git log --patience": "", "git log --parents -- -p": "",
		"git show a..b": "~.", "git show --all": "~.", "git show a..b -- src": "~src", "git show HEAD -- src": "", "git show --stdin": "~.", "git cat-file --batch": "~.", "git stash list -p": "~.", "git stash list": "", "git diff-tree --stdin": "~.", "git rev-list --all": "",
		"git log -p -- '?env'": "~.", "git log -p -- ':(top)x'": "~.", "scp -r a h:": "~a",
		// Directories that get another name.
		"mv conf x": "+conf", "mv a b x": "+a +b", "mv -t x conf": "+x +conf", "mv --target-directory=x conf": "+conf", "mv --exchange a b": "+a +b", "mv conf": "+conf", "mv": "", "mv -f -- conf x": "+conf", "sudo mv /etc /x": "+/etc",
		"git mv conf x": "+conf", "git -C sub mv conf x": "+conf +sub/conf", "cd sub && mv conf x": "+conf +sub/conf", "cd sub; cp -r /conf x": "@/conf",
		"ln conf x": "", "ln -s conf": "+conf", "ln -sfn conf x": "+conf +x/conf", "ln --symb ../conf sub/x": "+../conf +sub//../conf +sub/x/../conf", "ln -st sub conf": "+sub +conf +sub/conf +conf/sub",
		"ln -s /conf sub/x":     "+/conf",
		"cd / && grep -r key .": "~>.", "bash -c 'grep -r key x'": "~x", "timeout 5 grep -r key x": "~x", "sudo tar c /etc": "~c ~/etc",
	} {
		var l shell.Line
		l.Read([]byte(line))
		var got []string
		effect.Sweeps(&l, func(s *effect.Sweep) bool {
			text := string(s.Dir.Text)
			switch {
			case s.Anywhere:
				text = "?"
			case text == "":
				text = "."
			}
			if s.Renames {
				text = map[bool]string{false: "@", true: "+"}[s.Single] + text
				if !s.Hidden {
					t.Errorf("%s: leaves out hidden files", line)
				}
			} else if s.Moved {
				text = ">" + text
			}
			if s.Hidden && !s.Renames {
				text = "~" + text
			}
			if !slices.Contains(got, text) {
				got = append(got, text)
			}
			return true
		})
		wantDirs := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wantDirs)
		if fmt.Sprint(got) != fmt.Sprint(wantDirs) {
			t.Errorf("%s: sweeps %v, want %v", line, got, wantDirs)
		}
	}
}

// Returning false from yield ends the iteration.
func TestSweepsEnd(t *testing.T) {
	for _, line := range []string{"grep -r k a b c", "find a b c -exec cat {} +", "git log -p -- a b", "rg k; rg k", "mv a b c", "cd x; mv a b", "ln -s a b", "git mv a b c", "grep -r k; rg k"} {
		var l shell.Line
		l.Read([]byte(line))
		n := 0
		effect.Sweeps(&l, func(*effect.Sweep) bool { n++; return false })
		if n != 1 {
			t.Errorf("%s: %d sweeps", line, n)
		}
	}
}
