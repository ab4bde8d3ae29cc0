package release

// Unsupported returns why the programs do not run on a system, by its name in Go, with the
// remedy; "" if they do. Their guarantees depend on the locks, sockets, terminals and file
// owners of Unix (S62).
func Unsupported(system string) string {
	switch system {
	case "windows":
		return "Windows is not supported; run it in WSL 2, beside the agents: https://learn.microsoft.com/windows/wsl/install"
	case "plan9", "js", "wasip1":
		return "this system is not supported: Linux and macOS are"
	}
	return ""
}
