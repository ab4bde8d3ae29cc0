package packs_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// families are programs of one kind, by the first word of a command.
var families = map[string]string{
	"git and code hosts":    "git gh glab tea hub svn hg jj git-lfs",
	"files and text":        "ls cat head tail wc sort uniq cut tr awk gawk sed grep egrep rg ag fd find xargs tee diff comm column file stat du df tree jq yq xxd hexdump od strings base64 touch mkdir cp mv rm ln chmod chown dd truncate shred mktemp basename dirname realpath readlink echo printf date cal bc expr seq sleep test sha256sum md5sum cksum less more bat nl paste join fold fmt tac rev split open",
	"archives":              "tar zip unzip gzip gunzip bzip2 xz zstd 7z 7za cpio ar jar rar unrar compress zcat bsdtar binhex macbinary applesingle compression_tool",
	"shells and wrappers":   "bash sh zsh fish ksh dash env time timeout nice nohup sudo watch parallel command exec eval source for while if cd export set script caffeinate arch",
	"package managers":      "npm npx pnpm yarn bun deno pip pip3 pipx uv uvx poetry conda mamba cargo rustup go gem bundle composer mvn gradle dotnet brew apt apt-get apt-cache dpkg dnf yum rpm pacman apk nix snap flatpak port",
	"languages and linters": "python python3 node ruby perl php java rustc tsc black ruff mypy flake8 pylint pytest isort eslint prettier jest make cmake ninja just task rake pre-commit pre-commit-hook shellcheck",
	"containers, clusters":  "docker podman docker-compose nerdctl crictl kubectl helm kustomize kubectx kubens stern minikube kind k3d argocd flux istioctl skopeo buildah",
	"clouds and deployment": "aws az gcloud gsutil bq doctl fly flyctl heroku vercel netlify wrangler terraform tofu pulumi cdk sam ansible ansible-playbook packer vagrant vault consul nomad auth0 prometheus promtool",
	"network":               "curl wget http dig host nslookup ping traceroute whois nc ncat telnet ssh scp sftp rsync ftp openssl nmap ip ifconfig netstat ss arp route networksetup scutil",
	"databases":             "sqlite3 psql mysql mongosh mongo redis-cli duckdb pg_dump mysqldump sqlcmd",
	"system":                "ps top kill pkill killall lsof systemctl service journalctl dmesg launchctl sysctl mount uname hostname id who uptime free vmstat crontab fzf man history which",
	"macOS":                 "defaults dscl codesign xattr mdimport mdfind mdls diskutil hdiutil plutil pkgutil profiles qlmanage security spctl sips tmutil xcodebuild xcrun xcode-select symbols textutil lipo dwarfdump otool screencapture say osascript pbcopy pbpaste softwareupdate system_profiler",
}

// numbers are counts of labelled commands.
type numbers struct{ safe, runs, network, unsafe, wrong int }

// The page docs/shell-numbers.md has these numbers, by kind of program, for the half of the labelled commands
// that may be looked at and for the other half, which only this test reads. No unsafe command runs.
func TestShellNumbers(t *testing.T) {
	file, err := os.Open(corpus.Path(t, "commands", "labelled.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	family := map[string]string{}
	for name, programs := range families {
		for _, p := range strings.Fields(programs) {
			family[p] = name
		}
	}
	files, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	starter := string(files[0].Text)
	with := strings.Replace(starter, `"unix",`, `"unix", "network-read",`, 1)
	if with == starter {
		t.Fatal("the starter does not use the pack unix")
	}
	usual, network := judge(t, starter), judge(t, with)
	rows := [2]map[string]*numbers{{"all": {}}, {"all": {}}}
	for s := bufio.NewScanner(file); s.Scan(); {
		var c struct {
			Command string
			Safe    bool
		}
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		program, _, _ := strings.Cut(strings.TrimSpace(c.Command), " ")
		half := 0
		if corpus.Unseen(program) {
			half = 1
		}
		name := family[program]
		if name == "" {
			name = "others"
		}
		if rows[half][name] == nil {
			rows[half][name] = new(numbers)
		}
		a, b := usual(c.Command) == stopgate.Unattended, network(c.Command) == stopgate.Unattended
		for _, n := range []*numbers{rows[half][name], rows[half]["all"]} {
			n.add(c.Safe, a, b)
		}
	}
	page, err := os.ReadFile("../../docs/shell-numbers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range rows {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			n := of[name]
			if n.wrong > 0 {
				t.Errorf("%s: %d unsafe commands run", name, n.wrong)
			}
			row := fmt.Sprintf("| %s | %d | %d %% | %d %% | %d | %d |\n", name, n.safe, 100*n.runs/max(n.safe, 1), 100*n.network/max(n.safe, 1), n.unsafe, n.wrong)
			if !strings.Contains(string(page), row) {
				t.Errorf("docs/shell-numbers.md lacks\n%s", row)
			}
		}
	}
}

func (n *numbers) add(safe, runs, network bool) {
	count := func(at *int, ok bool) {
		if ok {
			*at++
		}
	}
	count(&n.safe, safe)
	count(&n.runs, safe && runs)
	count(&n.network, safe && network)
	count(&n.unsafe, !safe)
	count(&n.wrong, !safe && (runs || network))
}
