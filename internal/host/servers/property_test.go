package servers_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/host/servers"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// writer writes settings with a random layout.
type writer struct {
	t        *rapid.T
	comments bool
}

func (w writer) space() string {
	kinds := []string{"", " ", "\n", "\n    ", "\t", "\r\n"}
	if w.comments {
		kinds = append(kinds, " // a \"comment\"\n", " /* [ { */ ")
	}
	return rapid.SampledFrom(kinds).Draw(w.t, "space")
}

func (w writer) text() string {
	return rapid.SampledFrom([]string{`"npx"`, `"-y"`, `"--"`, `"mcp"`, `"a b"`, `"\u0041\"\\"`, `"é, ]"`, `""`, `"stop gate"`, `"--name"`}).Draw(w.t, "text")
}

func (w writer) list(open, end string, items []string) string {
	var b strings.Builder
	b.WriteString(open + w.space())
	for i, item := range items {
		b.WriteString(item + w.space())
		if i < len(items)-1 || w.comments && rapid.Bool().Draw(w.t, "last") {
			b.WriteString("," + w.space())
		}
	}
	return b.String() + end
}

func (w writer) texts() string {
	return w.list("[", "]", rapid.SliceOfN(rapid.Custom(func(*rapid.T) string { return w.text() }), 0, 4).Draw(w.t, "texts"))
}

func (w writer) member(key, value string) string {
	return `"` + key + `"` + w.space() + ":" + w.space() + value
}

func (w writer) server(words bool) string {
	var members []string
	if words {
		members = append(members, w.member("command", w.texts()))
	} else {
		members = append(members, w.member("command", w.text()))
		if rapid.Bool().Draw(w.t, "args") {
			members = append(members, w.member("args", w.texts()))
		}
	}
	if rapid.Bool().Draw(w.t, "env") {
		members = append(members, w.member("env", w.list("{", "}", []string{w.member("args", w.text())})))
	}
	if rapid.Bool().Draw(w.t, "url") {
		members = append(members, w.member("url", w.text()))
	}
	return w.list("{", "}", rapid.Permutation(members).Draw(w.t, "members"))
}

// Settings of any layout are byte for byte the same after the gate was put there and taken away, and putting it
// there twice is the same as once.
func TestInsertAndRemove(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		path := rapid.SampledFrom([]string{"/srv/shop/.mcp.json", "/home/u/.gemini/settings.json", "/srv/shop/opencode.jsonc", "/srv/shop/crush.json", "/home/u/.codex/config.toml"}).Draw(rt, "file")
		f := file(t, path)
		w := writer{rt, !strings.HasSuffix(path, ".mcp.json")}
		var text string
		switch {
		case strings.HasSuffix(path, ".toml"):
			text = w.toml()
		default:
			var list []string
			for i := range rapid.IntRange(0, 3).Draw(rt, "servers") {
				list = append(list, w.member(fmt.Sprint("s", i), w.server(strings.Contains(path, "opencode"))))
			}
			table := "mcpServers"
			if strings.Contains(path, "opencode") || strings.Contains(path, "crush") {
				table = "mcp"
			}
			text = w.list("{", "}", []string{w.member("other", w.texts()), w.member(table, w.list("{", "}", list)), w.member("command", w.text())}) + w.space()
		}
		name := func(s servers.Server) string { return rapid.SampledFrom([]string{"", "n"}).Draw(rt, "name") }
		after, changed, err := f.Insert([]byte(text), servers.Gate{Program: program, Name: name})
		if err != nil {
			rt.Fatalf("%v in %q", err, text)
		}
		again, none, err := f.Insert(after, servers.Gate{Program: program})
		if err != nil || len(none) > 0 || string(again) != string(after) {
			rt.Fatalf("again: %v, %v: %q", err, none, again)
		}
		back, err := f.Remove(after, changed)
		if err != nil || string(back) != text {
			rt.Fatalf("%v: %q is not %q", err, back, text)
		}
		found, err := f.Servers(after)
		if err != nil {
			rt.Fatal(err)
		}
		for _, s := range found {
			if !s.Gated && s.Problem == "" && !strings.Contains(text, "mcp_servers.") {
				rt.Fatalf("%+v has no gate in %q", s, after)
			}
		}
	})
}

// toml writes servers for Codex.
func (w writer) toml() string {
	var b strings.Builder
	space := func() string { return rapid.SampledFrom([]string{"", " ", "  "}).Draw(w.t, "blank") }
	end := func() string { return rapid.SampledFrom([]string{"\n", " # \"x\"\n", "\n\n", "\r\n"}).Draw(w.t, "end") }
	list := func() string {
		var items []string
		for range rapid.IntRange(0, 3).Draw(w.t, "items") {
			items = append(items, rapid.SampledFrom([]string{`"-y"`, `'a"b'`, `"\u0041"`, `"--"`, `"mcp"`}).Draw(w.t, "item"))
		}
		sep := rapid.SampledFrom([]string{",", ", ", ",\n  ", ", # c\n"}).Draw(w.t, "sep")
		tail := ""
		if len(items) > 0 {
			tail = rapid.SampledFrom([]string{"", ",", ",\n"}).Draw(w.t, "tail")
		}
		return "[" + rapid.SampledFrom([]string{"", " ", "\n"}).Draw(w.t, "open") + strings.Join(items, sep) + tail + "]"
	}
	b.WriteString("model = \"x\"" + end())
	for i := range rapid.IntRange(0, 3).Draw(w.t, "servers") {
		command := rapid.SampledFrom([]string{`"npx"`, `'npx'`, `"n\u0070x"`, `"""npx"""`}).Draw(w.t, "command")
		lines := []string{space() + "command" + space() + "=" + space() + command}
		if rapid.Bool().Draw(w.t, "args") {
			lines = append(lines, space()+"args"+space()+"="+space()+list())
		}
		if rapid.Bool().Draw(w.t, "env") {
			lines = append(lines, `env = { "command" = "y" }`)
		}
		fmt.Fprintf(&b, "[mcp_servers.s%d]%s", i, end())
		for _, l := range rapid.Permutation(lines).Draw(w.t, "lines") {
			b.WriteString(l + end())
		}
	}
	return b.String()
}
