package shell

import (
	"bytes"
	"strings"
	"sync"
)

// codeFlagTable lists options that run code (E16): programs, a colon, options. A
// long option also stands for its abbreviations, an option of one letter for every
// cluster that has it; a word without a dash stands for NAME=.
const codeFlagTable = `
git-rebase: --exec -x
git-clone: -u
git-difftool: --extcmd -x
git-filter-branch: --setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter
git-send-email: --sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd
git-daemon: --access-hook
git-shell: -c
git: --upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager --gpg-program --tool --extcmd -O
fd fdfind: --exec --exec-batch -x -X
rg: --pre --hostname-bin
ag ack: --pager
sort: --compress-program
man: --html --pager --config-file -H -P -C
nm ar ranlib ld gcc-nm gcc-ar llvm-nm: --plugin -plugin
bat delta: --pager
go: -exec -toolexec -vettool
tar bsdtar gtar: --checkpoint-action --to-command --use-compress-program --rsh-command --rmt-command --info-script --new-volume-script -I -F
fzf: --preview --bind --listen-unsafe --become --with-shell
rsync: --rsh -e
scp sftp: -S -o
split: --filter
zip: --unzip-command -TT
ctags: --options
vim vi nvim ex view gvim vimdiff: -c --cmd -S +
less more most: +
mapfile readarray: -C
fc: -e
nodemon watchexec: --exec -x --on-busy-update
emacs: --eval --load --funcall -f -l
ncat nc: -e -c --exec --sh-exec --lua-exec
nmap: --script
tcpdump: -z
make gmake: --eval SHELL= MAKE= .SHELLFLAGS=
cargo: --config
npm pnpm yarn: --script-shell --node-options
node nodejs: --require --import --loader -r
gcc g++ cc c++ clang: -wrapper -B -fplugin
psql: --log-file
mysql: --pager --init-command
hg: --config
svn: --diff-cmd --diff3-cmd --editor-cmd --config-option
wget: --use-askpass --config
dpkg apt apt-get: -o --option
ffmpeg: -filter_script
gdb lldb: -ex -x --eval-command --command
kubectl: --kubeconfig --exec-command
helm: --post-renderer
`

// tails are programs whose option is followed by a command in words.
var tails = set("fd fdfind")

// codeFlag is one option that runs code.
type codeFlag struct{ name string }

// match reports a word that is the option, or may be read as it, and its value if
// that is in the same word.
func (f codeFlag) match(word []byte) (value []byte, attached, ok bool) {
	name := f.name
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

var codeFlags = sync.OnceValue(func() map[string][]codeFlag {
	table := map[string][]codeFlag{}
	for line := range strings.Lines(codeFlagTable) {
		names, options, _ := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			for option := range strings.FieldsSeq(options) {
				table[name] = append(table[name], codeFlag{option})
			}
		}
	}
	return table
})

// codeFlagNames are the programs of the table.
func codeFlagNames() string {
	var b strings.Builder
	for line := range strings.Lines(codeFlagTable) {
		names, _, _ := strings.Cut(line, ":")
		b.WriteString(names + " ")
	}
	return b.String()
}

// TakesCode reports a program that has an option which runs code: words that nobody
// can see may hold it.
func TakesCode(program []byte) bool { return known()[string(familiar(Base(program)))] }
