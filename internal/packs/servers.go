package packs

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// The beginnings of the entries of `servers` of a pack.
const (
	https   = "https://"
	ofNPM   = "npm:"  // a package that npx and its like run
	ofPyPI  = "pypi:" // a package that uvx and pipx run
	ofOCI   = "oci:"  // an image that docker and podman run
	program = "bin:"  // an installed program, by its name without directories
)

// ForServer returns the pack for an MCP server that is started by a command, or reached at an address:
// `npx -y PACKAGE`, `uvx PACKAGE`, `docker run IMAGE`, an installed program. A command that it does not
// understand to the end of the package's name, such as one with an option that it does not know, has none:
// the options decide which program runs.
func ForServer(command []string, address string) (name string, ok bool) {
	want := identify(command)
	if address != "" {
		if want != "" || !strings.HasPrefix(address, https) {
			return "", false
		}
		want = address
	}
	if want == "" {
		return "", false
	}
	for _, name := range Names() {
		if !OfServer(name) {
			continue
		}
		p, _ := Lookup(name)
		if slices.ContainsFunc(p.Servers, func(server string) bool {
			return server == want || strings.HasPrefix(server, https) && below(server, want)
		}) {
			return name, true
		}
	}
	return "", false
}

// ValidServerName reports whether a policy can give a name to the server of a pack: 1 to 64 letters and digits, with
// single "_", "-" and "." between them. Two "_" would end the name in that of a tool, and "mcp", which is none either,
// begins the names that agents give the tools of all servers.
func ValidServerName(name string) bool {
	apart := true // from a letter or digit before
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			apart = false
		case apart || c != '_' && c != '-' && c != '.':
			return false
		default:
			apart = true
		}
	}
	return !apart && len(name) <= 64 && name != "mcp"
}

// OwnerOf returns the pack whose server has a name, in whatever case. A policy cannot give it to that of another pack.
func OwnerOf(name string) (Pack, bool) {
	for _, pack := range Names() {
		if p, _ := Lookup(pack); p.Server() != "" && strings.EqualFold(p.Server(), name) {
			return p, true
		}
	}
	return Pack{}, false
}

// below reports whether an address is that of a server, or one below it.
func below(server, address string) bool {
	s, err := url.Parse(server)
	if err != nil {
		return false
	}
	a, err := url.Parse(address)
	if err != nil || a.User != nil || a.Opaque != "" || a.Scheme != s.Scheme || !strings.EqualFold(strings.TrimSuffix(a.Host, ":443"), s.Host) {
		return false
	}
	if strings.Contains(a.EscapedPath(), "%") || a.Path != "" && path.Clean(a.Path) != strings.TrimSuffix(a.Path, "/") && a.Path != "/" {
		return false
	}
	root := strings.TrimSuffix(s.Path, "/")
	return strings.TrimSuffix(a.Path, "/") == root || strings.HasPrefix(a.Path, root+"/")
}

// runner is a program that runs a package: the words that name its command, what it runs, and its options.
type runner struct {
	words []string
	kind  string
	flags []string // without a value
	with  []string // with one
	from  []string // with the package, if it is not that of the first operand
}

var runners = []runner{
	{[]string{"npx"}, ofNPM, npmFlags, nil, []string{"-p", "--package"}},
	{[]string{"npm", "exec"}, ofNPM, npmFlags, nil, []string{"-p", "--package"}},
	{[]string{"npm", "x"}, ofNPM, npmFlags, nil, []string{"-p", "--package"}},
	{[]string{"pnpm", "dlx"}, ofNPM, []string{"-s", "--silent"}, nil, []string{"--package"}},
	{[]string{"pnpx"}, ofNPM, []string{"-s", "--silent"}, nil, []string{"--package"}},
	{[]string{"yarn", "dlx"}, ofNPM, []string{"-q", "--quiet"}, nil, []string{"-p", "--package"}},
	{[]string{"bunx"}, ofNPM, []string{"--bun", "-y", "--yes"}, nil, []string{"-p", "--package"}},
	{[]string{"bun", "x"}, ofNPM, []string{"--bun", "-y", "--yes"}, nil, []string{"-p", "--package"}},
	{[]string{"uvx"}, ofPyPI, uvFlags, []string{"-p", "--python"}, []string{"--from"}},
	{[]string{"uv", "tool", "run"}, ofPyPI, uvFlags, []string{"-p", "--python"}, []string{"--from"}},
	{[]string{"pipx", "run"}, ofPyPI, []string{"-q", "--quiet", "--no-cache"}, []string{"--python"}, []string{"--spec"}},
	{[]string{"docker", "run"}, ofOCI, dockerFlags, dockerWith, nil},
	{[]string{"docker", "container", "run"}, ofOCI, dockerFlags, dockerWith, nil},
	{[]string{"podman", "run"}, ofOCI, dockerFlags, dockerWith, nil},
}

var (
	npmFlags    = []string{"-y", "--yes", "-q", "--quiet", "--silent", "--prefer-offline", "--prefer-online", "--"}
	uvFlags     = []string{"-q", "--quiet", "--offline", "--isolated", "--no-cache", "--refresh", "-U", "--upgrade", "--native-tls"}
	dockerFlags = []string{"-i", "--interactive", "-t", "--tty", "-it", "-ti", "--rm", "--init", "-d", "--read-only"}
	dockerWith  = []string{
		"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish", "-w", "--workdir", "-u", "--user", "--platform",
		"--pull", "--add-host", "-m", "--memory", "--cpus", "-l", "--label", "--security-opt", "--cap-drop", "--restart",
	}
)

// identify returns the entry of `servers` that a command is, "" if it is none.
func identify(command []string) string {
	if len(command) > 2 && strings.EqualFold(base(command[0]), "cmd") && strings.EqualFold(command[1], "/c") {
		command = command[2:] // how Windows starts npx
	}
	if len(command) == 0 {
		return ""
	}
	words := slices.Concat([]string{base(command[0])}, command[1:])
	for _, r := range runners {
		if len(words) >= len(r.words) && slices.Equal(words[:len(r.words)], r.words) {
			return r.identify(words[len(r.words):])
		}
	}
	return program + words[0]
}

// identify returns what a runner runs with some arguments.
func (r runner) identify(args []string) string {
	from := ""
	for len(args) > 0 {
		option, value, joined := strings.Cut(args[0], "=")
		switch {
		case slices.Contains(r.flags, args[0]):
			args = args[1:]
		case slices.Contains(r.with, option) || slices.Contains(r.from, option) && from == "":
			if !joined {
				if len(args) < 2 {
					return ""
				}
				value, args = args[1], args[1:]
			}
			if slices.Contains(r.from, option) {
				from = value
			}
			args = args[1:]
		case strings.HasPrefix(args[0], "-"):
			return "" // it may change what runs
		case from != "":
			return r.entry(from)
		default:
			return r.entry(args[0])
		}
	}
	return ""
}

// entry returns the entry of a package or image without its version, "" if the version names another
// source: an alias, a directory, an address.
func (r runner) entry(name string) string {
	version := ""
	switch r.kind {
	case ofOCI:
		name, _, _ = strings.Cut(name, "@")
		if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
			name, version = name[:at], name[at+1:]
		}
		name = strings.TrimPrefix(name, "docker.io/")
	case ofPyPI:
		if at := strings.IndexAny(name, "@=["); at > 0 {
			if name, version = name[:at], strings.TrimLeft(name[at:], "@="); strings.HasPrefix(version, "[") {
				return "" // extras
			}
		}
		name = strings.ToLower(strings.NewReplacer("_", "-").Replace(name))
	default:
		if at := strings.LastIndexByte(name, '@'); at > 0 {
			name, version = name[:at], name[at+1:]
		}
	}
	if strings.ContainsFunc(version, func(c rune) bool {
		return c != '.' && c != '-' && c != '+' && c != '^' && c != '~' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) {
		return ""
	}
	return r.kind + name
}

// base is the name of a program without its directory and the endings of Windows.
func base(program string) string {
	if at := strings.LastIndexAny(program, `/\`); at >= 0 {
		program = program[at+1:]
	}
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		program = strings.TrimSuffix(program, end)
	}
	return program
}
