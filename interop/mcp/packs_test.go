package mcp_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// packed are servers of packs that list their tools without an account. Of a pack for several servers each
// knows a part of the tools.
var packed = []struct {
	pack    string
	command []string // a program of servers/node_modules/.bin
	env     []string
	several bool
}{
	{"playwright", []string{"playwright-mcp"}, nil, false},
	{"puppeteer", []string{"mcp-server-puppeteer"}, nil, false},
	{"github", []string{"mcp-server-github"}, []string{"GITHUB_PERSONAL_ACCESS_TOKEN=x"}, true},
	{"slack", []string{"mcp-server-slack"}, []string{"SLACK_BOT_TOKEN=x", "SLACK_TEAM_ID=T1"}, true},
	{"postgres", []string{"mcp-server-postgres", "postgresql://127.0.0.1:9/x"}, nil, true},
	{"notion", []string{"notion-mcp-server"}, []string{"NOTION_TOKEN=ntn_x"}, false},
	{"sentry", []string{"sentry-mcp", "--access-token=x"}, nil, false},
	{"supabase", []string{"mcp-server-supabase", "--access-token=sbp_0000000000000000000000000000000000000000", "--features=account,database,debugging,development,functions,branching,storage"}, nil, true},
	{"cloudflare", []string{"mcp-server-cloudflare", "run", "00000000000000000000000000000000"}, []string{"CLOUDFLARE_API_TOKEN=x"}, false},
	{"brave-search", []string{"brave-search-mcp-server", "--transport", "stdio"}, []string{"BRAVE_API_KEY=x"}, false},
	{"tavily", []string{"tavily-mcp"}, []string{"TAVILY_API_KEY=x"}, false},
	{"exa", []string{"exa-mcp-server"}, []string{"EXA_API_KEY=x"}, false},
	{"kubernetes", []string{"mcp-server-kubernetes"}, nil, true},
	{"figma", []string{"figma-developer-mcp", "--stdio", "--figma-api-key=x"}, nil, true},
	{"context7", []string{"context7-mcp"}, nil, false},
	{"desktop-commander", []string{"desktop-commander"}, nil, false},
	{"filesystem", []string{"mcp-server-filesystem", "."}, nil, false},
	{"memory", []string{"mcp-server-memory"}, nil, false},
	{"everything", []string{"mcp-server-everything"}, nil, false},
}

// earlier are tools that only earlier versions have.
var earlier = []string{"browser_install"}

// knownTool is a row of the table of known tools.
type knownTool struct {
	Names      []string
	Effect     bool
	Parameters []struct{ Name string }
}

// names are the parameters of a row.
func (k knownTool) names() (list []string) {
	for _, p := range k.Parameters {
		name, _, _ := strings.Cut(p.Name, ".")
		list = append(list, strings.TrimSuffix(name, "[]"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// The table of known tools and the packs know the real servers: each tool that a server lists has a row with all
// of its parameters, and each row that has no effect is a tool of the server.
func TestPacksKnowTheServers(t *testing.T) {
	if os.Getenv("STOPGATE_SERVERS") == "" {
		t.Skip("make servers installs twenty servers")
	}
	dir, err := filepath.Abs("servers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		cmd := exec.Command("npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
	}
	known := knownServers(t)
	for _, c := range packed {
		t.Run(c.pack+" "+c.command[0], func(t *testing.T) {
			rows := known["mcp-"+c.pack]
			tools := listed(t, filepath.Join(dir, "node_modules", ".bin", c.command[0]), c.command[1:], c.env)
			for name, properties := range tools {
				row, ok := rows[name]
				if !ok {
					t.Errorf("%s is not known", name)
					continue
				}
				for _, p := range properties {
					if !slices.Contains(row.names(), p) {
						t.Errorf("the row of %s lacks the parameter %s", name, p)
					}
				}
			}
			for name, row := range rows {
				if tools[name] == nil && !row.Effect && !c.several && !slices.Contains(earlier, name) {
					t.Errorf("the server has no tool %s", name)
				}
			}
			t.Logf("%d tools of %d rows", len(tools), len(rows))
		})
	}
}

// knownServers returns the rows of known tools by product and name.
func knownServers(t *testing.T) map[string]map[string]knownTool {
	t.Helper()
	out, err := exec.Command(stopgate, "check", "--known-tools", "--format", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Products []struct {
			Product string
			Tools   []knownTool
		}
	}
	if err := json.Unmarshal(out, &table); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]knownTool)
	for _, p := range table.Products {
		all[p.Product] = make(map[string]knownTool)
		for _, tool := range p.Tools {
			for _, name := range tool.Names {
				all[p.Product][name] = tool
			}
		}
	}
	return all
}

// listed returns the parameters of the tools that a server lists.
func listed(t *testing.T, program string, args, env []string) map[string][]string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = append(home(t), env...), t.TempDir()
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tools := make(map[string][]string)
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		tools[tool.Name] = append([]string{}, slices.Sorted(maps.Keys(schema.Properties))...)
	}
	return tools
}
