package shell

import (
	"bytes"
	"strings"
)

// codeFlagsOf returns the options of a program that run code (E16), "" for none. A long option also
// matches its abbreviations, an option of one letter every cluster that contains it, and a word
// without a dash matches NAME=.
func codeFlagsOf(program string) string {
	switch program {
	case "git-rebase":
		return "--exec -x"
	case "git-clone":
		return "-u"
	case "git-difftool":
		return "--extcmd -x"
	case "git-filter-branch":
		return "--setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter"
	case "git-send-email":
		return "--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd"
	case "git-daemon":
		return "--access-hook"
	case "git-shell":
		return "-c"
	case "git":
		return "--upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager --gpg-program --tool --extcmd -O"
	case "fd", "fdfind":
		return "--exec --exec-batch -x -X"
	case "rg":
		return "--pre --hostname-bin"
	case "ag", "ack":
		return "--pager"
	case "sort":
		return "--compress-program"
	case "man":
		return "--html --pager --config-file -H -P -C"
	case "nm", "ar", "ranlib", "ld", "gcc-nm", "gcc-ar", "llvm-nm":
		return "--plugin -plugin"
	case "bat", "delta":
		return "--pager"
	case "go":
		return "-exec -toolexec -vettool"
	case "tar", "bsdtar", "gtar":
		return "--checkpoint-action --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script -I -F"
	case "fzf":
		return "--preview --bind --listen-unsafe --become --with-shell"
	case "rsync":
		return "--rsh -e"
	case "scp", "sftp":
		return "-S -o"
	case "split":
		return "--filter"
	case "zip":
		return "--unzip-command -TT"
	case "ctags":
		return "--options"
	case "vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff":
		return "-c --cmd -S +"
	case "less", "more", "most":
		return "+"
	case "mapfile", "readarray":
		return "-C"
	case "fc":
		return "-e"
	case "nodemon", "watchexec":
		return "--exec -x --on-busy-update"
	case "emacs":
		return "--eval --load --funcall -f -l"
	case "ncat", "nc":
		return "-e -c --exec --sh-exec --lua-exec"
	case "nmap":
		return "--script"
	case "tcpdump":
		return "-z"
	case "make", "gmake":
		return "--eval SHELL= MAKE= .SHELLFLAGS="
	case "cargo":
		return "--config"
	case "npm", "pnpm", "yarn":
		return "--script-shell --node-options"
	case "node", "nodejs":
		return "--require --import --loader -r"
	case "gcc", "g++", "cc", "c++", "clang":
		return "-wrapper -B -fplugin"
	case "psql":
		return "--log-file"
	case "mysql":
		return "--pager --init-command"
	case "hg":
		return "--config"
	case "svn":
		return "--diff-cmd --diff3-cmd --editor-cmd --config-option"
	case "wget":
		return "--use-askpass --config"
	case "dpkg", "apt", "apt-get":
		return "-o --option"
	case "ffmpeg":
		return "-filter_script"
	case "gdb", "lldb":
		return "-ex -x --eval-command --command"
	case "kubectl":
		return "--kubeconfig --exec-command"
	case "helm":
		return "--post-renderer"
	}
	return ""
}

// tails are programs with an option that is followed by the words of a command.
var tails = words{"fd", "fdfind"}

// codeFlag is one option that runs code.
type codeFlag string

// match reports whether a word is the option, or may be read as it, and returns its value if that
// is in the same word.
func (f codeFlag) match(word []byte) (value []byte, attached, ok bool) {
	name := string(f)
	switch {
	case strings.HasPrefix(name, "--"):
		option, value, attached := bytes.Cut(word, []byte("="))
		return value, attached, len(option) > 2 && strings.HasPrefix(name, string(option))
	case strings.HasSuffix(name, "="):
		value, ok := bytes.CutPrefix(word, []byte(name))
		return value, true, ok
	case len(name) == 2 && name[0] == '-':
		if len(word) < 2 || word[0] != '-' || word[1] == '-' {
			return nil, false, false
		}
		at := bytes.IndexByte(word[1:], name[1])
		if at < 0 {
			return nil, false, false
		}
		value := word[at+2:]
		return value, len(value) > 0, true
	case name == "+":
		return bytes.TrimPrefix(word, []byte("+")), true, len(word) > 1 && word[0] == '+'
	}
	option, value, attached := bytes.Cut(word, []byte("="))
	return value, attached, string(option) == name || string(option) == "-"+name
}

// TakesCode reports whether a program has an option that runs code. Unknown words of it may contain
// code.
func TakesCode(program []byte) bool { return known(string(familiar(Base(program)))) }
