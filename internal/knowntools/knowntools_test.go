package knowntools_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/knowntools"
)

// Every product can be parsed, is called like its file, and cites its source.
func TestTable(t *testing.T) {
	for _, name := range knowntools.Products() {
		p := knowntools.Load(name)
		if p.Name != name || p.Title == "" || !strings.ContainsAny(p.Source, "0123456789/(") || len(p.Tools) == 0 {
			t.Errorf("%s: name %q, title %q, source %q, %d rows", name, p.Name, p.Title, p.Source, len(p.Tools))
		}
		for _, more := range p.Includes {
			if !slices.Contains(knowntools.Products(), more) {
				t.Errorf("%s includes %s, which is not a product", name, more)
			}
		}
		for _, tool := range p.Tools {
			if len(tool.Names) == 0 || tool.Source == "" {
				t.Errorf("%s: a row without a name or a source", name)
			}
		}
	}
}

// A host has the rows of its own product before those that the product includes.
func TestForHost(t *testing.T) {
	h := knowntools.ForHost("pi")
	if got := h.Tool("read").Product.Name; got != "pi" {
		t.Errorf("read of pi is from %s", got)
	}
	if got := h.Tool("Read").Product.Name; got != "claude-code" {
		t.Errorf("Read of pi is from %s", got)
	}
	if knowntools.ForHost("mcp-git") != nil || knowntools.ForHost("unknown").Tool("read") != nil {
		t.Error("a product that is not a host has tools of one")
	}
}

// A row of a server is found by the server's name and the tool's; by the tool's alone all
// rows of that name are.
func TestLookup(t *testing.T) {
	if got := knowntools.ForServer("filesystem", "read_file"); got == nil || got.Product.Name != "mcp-filesystem" {
		t.Errorf("read_file of filesystem: %v", got)
	}
	if got := knowntools.ForServer("other", "read_file"); got != nil {
		t.Errorf("read_file of another server is from %s", got.Product.Name)
	}
	if got := knowntools.ByName("read_file"); len(got) < 3 {
		t.Errorf("read_file has %d rows", len(got))
	}
}

// A row that is parsed alone is the one of the whole file, under each of its names.
func TestRowsAlone(t *testing.T) {
	say := func(tools ...*knowntools.Tool) (text string) {
		for _, tool := range tools {
			text += fmt.Sprintln(tool.Product.Name, tool.Names, tool.Class, tool.Starters, tool.Parameters, tool.Harmless, tool.Source)
		}
		return text
	}
	for _, p := range knowntools.All() {
		for _, tool := range p.Tools {
			for _, name := range tool.Names {
				rows := knowntools.ByName(name)
				if !strings.Contains(say(rows...), say(tool)) {
					t.Errorf("%s: %s alone is %s", p.Name, name, say(rows...))
				}
				if h := knowntools.ForHost(p.Name); h != nil && say(h.Tool(name)) != say(tool) {
					t.Errorf("%s: %s of the host is %s", p.Name, name, say(h.Tool(name)))
				}
			}
		}
	}
	for _, name := range []string{"", `Read", "Write`, "names", "Bash\n"} {
		if got := knowntools.ForHost("claude-code").Tool(name); got != nil {
			t.Errorf("%q is %s", name, say(got))
		}
	}
}

// A file with a mistake is refused.
func TestParse(t *testing.T) {
	head := "version = 1\nproduct = \"p\"\ntitle = \"P\"\nsource = \"s 1\"\n"
	for name, text := range map[string]string{
		"no product":    "version = 1\n",
		"version":       strings.Replace(head, "1", "2", 1),
		"unknown key":   head + "tool_names = []\n",
		"unknown kind":  head + "[[tool]]\nnames = [\"a\"]\nclass = \"read\"\nparameters = { x = \"file\" }\n",
		"no effect":     head + "[[tool]]\nnames = [\"a\"]\nclass = \"read\"\neffect = \"no\"\n",
		"no class":      head + "[[tool]]\nnames = [\"a\"]\n",
		"another class": head + "[[tool]]\nnames = [\"a\"]\nclass = \"reads\"\n",
		"listed name":   head + "[[tool]]\nnames = [\"a\"]\nclass = \"read\"\nstarters = { coding = [\"b\"] }\n",
		"a name twice":  head + "[[tool]]\nnames = [\"a\"]\nclass = \"read\"\n[[tool]]\nnames = [\"b\", \"a\"]\nclass = \"read\"\n",
	} {
		if _, found := knowntools.Parse("p.toml", []byte(text)); !found.HasErrors() {
			t.Errorf("%s: no mistake was found", name)
		}
	}
	p, found := knowntools.Parse("p.toml", []byte(head+"[[tool]]\nnames = [\"a\", \"b\"]\nclass = \"read\"\nstarters = { coding = [\"b\"] }\nparameters = { x = \"path\", \"y[].z\" = \"url\", \"o.m\" = \"command\", \"l[].m[]\" = \"path\" }\n"))
	if found.HasErrors() {
		t.Fatal(found)
	}
	if row := p.Tools[0]; row.Class != knowntools.Read || !slices.Equal(row.Starters, []knowntools.Listed{{Starter: "coding", Name: "b"}}) {
		t.Errorf("class %q, starters %v", row.Class, row.Starters)
	}
	var got []string
	for _, parameter := range p.Tools[0].Parameters {
		got = append(got, parameter.String()+"="+parameter.Kind.Type())
	}
	if want := "x=path y[].z=url o.m=command l[].m[]=path"; strings.Join(got, " ") != want {
		t.Errorf("parameters %v, want %s", got, want)
	}
}

func BenchmarkHost(b *testing.B) {
	text := knowntools.Text("claude-code")
	for b.Loop() {
		knowntools.Parse("claude-code.toml", text)
	}
}

func BenchmarkByName(b *testing.B) {
	for b.Loop() {
		knowntools.ByName("get_weather")
	}
}
