package project

import (
	"slices"
	"strings"
)

// MaxLines bounds the policy that is written for a project.
const MaxLines = 40

// MaxNames bounds the names of servers in it.
const MaxNames = 6

// languagePacks are the packs of languages.
var languagePacks = []string{"go", "node", "python", "rust", "jvm", "ruby", "php", "dotnet"}

// toolPacks are the packs of tools.
var toolPacks = []string{"git", "github-cli", "docker-read", "kubernetes-read", "cloud-read", "terraform-read", "deploy-read", "linters"}

// programs are the programs that the packs of tools know, for people who use them whatever the project has.
var programs = []struct {
	pack  string
	names []string
}{
	{"git", []string{"git"}},
	{"github-cli", []string{"gh"}},
	{"docker-read", []string{"docker", "podman"}},
	{"kubernetes-read", []string{"kubectl", "helm"}},
	{"cloud-read", []string{"aws", "gcloud", "az"}},
	{"terraform-read", []string{"terraform", "tofu"}},
	{"deploy-read", []string{"flyctl", "heroku", "vercel", "wrangler", "pulumi", "ansible"}},
}

// Installed adds the tools whose programs are installed on the machine. Their packs only permit to look.
func (p *Project) Installed(has func(program string) bool) {
	for _, t := range programs {
		if i := slices.IndexFunc(t.names, has); i >= 0 && !p.Has(t.pack) {
			p.Tools = append(p.Tools, Found{t.pack, t.names[i] + " is installed"})
		}
	}
	slices.SortFunc(p.Tools, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
}

// Packs returns the names of the packs that the policy uses, in its order.
func (p Project) Packs() []string {
	list := []string{"coding", "flow", "unix", "databases-read"}
	for _, name := range slices.Concat(languagePacks, toolPacks) {
		if name == "rust" && p.Unattended && slices.ContainsFunc(p.Commands, func(c Command) bool { return strings.HasPrefix(c.Line, "cargo ") }) {
			list = append(list, "rust-run") // before "rust", which asks about the same tools
		}
		if p.Has(name) || name == "jvm" && (p.Has("maven") || p.Has("gradle")) {
			list = append(list, name)
		}
	}
	switch p.System {
	case "linux":
		list = append(list, "linux", "packages-read")
	case "darwin":
		list = append(list, "macos", "packages-read")
	}
	return append(list, p.Servers...)
}

// Policy returns the policy of the project: at most [MaxLines] lines.
func (p Project) Policy() []byte {
	var b strings.Builder
	b.WriteString(`# What agents may do in this project. Make it yours, then run: stopgate check --strict, stopgate trust
version = 1
`)
	array(&b, "use", p.Packs(), 4-min(len(p.Names), 1))
	if names := bound(p.Names, MaxNames); len(names) > 0 {
		for i, n := range names {
			b.WriteString([]string{"servers = { ", ", "}[min(i, 1)] + n.Name + " = " + quote(n.Pack))
		}
		b.WriteString(" } # as agents call them here\n")
	}
	list, left := p.usages()
	if len(list) > 0 {
		mode := "ask"
		if p.Unattended {
			mode = "unattended"
		}
		b.WriteString(`
# The project's own commands run what agents write: "ask" asks before each, "unattended" lets them run.
[tools.Bash.policy]
run = [{ arg = "/command", usage_in = "project", mode = "` + mode + `", reason = "this runs code of the project" }]
`)
	}
	work, generated := bound(p.Work, 8), bound(p.Generated, 6)
	if len(list)+len(work)+len(generated) > 0 {
		b.WriteString("\n[lists]\n")
	}
	if len(list) > 0 {
		b.WriteString("project = [\n")
		for _, u := range list {
			b.WriteString("  " + quote(u.usage) + ", # " + u.source + "\n")
		}
		if left > 0 {
			b.WriteString("  # Others of this project ask as well.\n")
		}
		b.WriteString("]\n")
	}
	array(&b, "work", work, 6)
	array(&b, "generated", generated, 3)
	return []byte(b.String())
}

// usage is a pattern of the list of commands.
type usage struct{ usage, source string }

// maxUsages bounds the list of commands.
const maxUsages = 10

// usages returns the patterns of the commands, and the number of those that were left out.
func (p Project) usages() (list []usage, left int) {
	for _, c := range p.Commands {
		switch {
		case slices.ContainsFunc(list, func(u usage) bool { return u.usage == c.Usage }):
		case len(list) == maxUsages:
			left++
		default:
			list = append(list, usage{c.Usage, c.Source})
		}
	}
	return list, left
}

// Covered returns the commands whose usage is in the policy.
func (p Project) Covered() (list []Command) {
	usages, _ := p.usages()
	for _, c := range p.Commands {
		if slices.ContainsFunc(usages, func(u usage) bool { return u.usage == c.Usage }) {
			list = append(list, c)
		}
	}
	return list
}

// bound returns the first elements of a list.
func bound[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// array writes an array of strings, in lines of about 100 characters, at most that many.
func array(b *strings.Builder, name string, list []string, lines int) {
	if len(list) == 0 {
		return
	}
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	if one := strings.Join(quoted, ", "); len(one) < 100 {
		b.WriteString(name + " = [" + one + "]\n")
		return
	}
	var rows []string
	row := ""
	for _, q := range quoted {
		if row != "" && len(row)+len(q) > 110 && len(rows) < lines-1 {
			rows, row = append(rows, row), ""
		}
		if row != "" {
			row += " "
		}
		row += q + ","
	}
	rows = append(rows, row)
	b.WriteString(name + " = [\n")
	for _, r := range rows {
		b.WriteString("  " + r + "\n")
	}
	b.WriteString("]\n")
}

// quote returns a TOML string. Names are plain, so that nothing needs an escape but a backslash.
func quote(s string) string {
	if strings.ContainsAny(s, "\"\n\r") {
		return `""` // no name and no pattern has these
	}
	return `"` + strings.ReplaceAll(s, `\`, `\\`) + `"`
}
