package project

import (
	"path"
	"slices"
)

// marker is a file that shows a language or a tool.
type marker struct {
	file string // a pattern of names
	name string
	kind kind
	root bool // only in the root
}

type kind uint8

const (
	language kind = iota // the directory is a package
	tool
	pipeline
)

var markers = []marker{
	{file: "go.mod", name: "go"},
	{file: "go.work", name: "go", root: true},
	{file: "package.json", name: "node"},
	{file: "deno.json", name: "node"},
	{file: "pyproject.toml", name: "python"},
	{file: "setup.py", name: "python"},
	{file: "setup.cfg", name: "python"},
	{file: "requirements*.txt", name: "python"},
	{file: "Pipfile", name: "python"},
	{file: "tox.ini", name: "python"},
	{file: "noxfile.py", name: "python"},
	{file: "Cargo.toml", name: "rust"},
	{file: "pom.xml", name: "maven"},
	{file: "build.gradle", name: "gradle"},
	{file: "build.gradle.kts", name: "gradle"},
	{file: "settings.gradle", name: "gradle"},
	{file: "settings.gradle.kts", name: "gradle"},
	{file: "composer.json", name: "php"},
	{file: "Gemfile", name: "ruby"},
	{file: "*.csproj", name: "dotnet"},
	{file: "*.sln", name: "dotnet"},
	{file: "*.slnx", name: "dotnet"},
	{file: "Makefile", name: "make", kind: tool},
	{file: "GNUmakefile", name: "make", kind: tool},
	{file: "justfile", name: "just", kind: tool},
	{file: "Justfile", name: "just", kind: tool},
	{file: "Taskfile.yml", name: "task", kind: tool},
	{file: "Taskfile.yaml", name: "task", kind: tool},
	{file: "Dockerfile", name: "docker-read", kind: tool},
	{file: "Containerfile", name: "docker-read", kind: tool},
	{file: "docker-compose.y*ml", name: "docker-read", kind: tool},
	{file: "compose.y*ml", name: "docker-read", kind: tool},
	{file: "Chart.yaml", name: "kubernetes-read", kind: tool},
	{file: "kustomization.y*ml", name: "kubernetes-read", kind: tool},
	{file: "skaffold.yaml", name: "kubernetes-read", kind: tool},
	{file: "*.tf", name: "terraform-read", kind: tool},
	{file: "serverless.y*ml", name: "cloud-read", kind: tool},
	{file: "samconfig.toml", name: "cloud-read", kind: tool},
	{file: "cdk.json", name: "cloud-read", kind: tool},
	{file: "azure.yaml", name: "cloud-read", kind: tool},
	{file: "fly.toml", name: "deploy-read", kind: tool},
	{file: "vercel.json", name: "deploy-read", kind: tool},
	{file: "netlify.toml", name: "deploy-read", kind: tool},
	{file: "wrangler.toml", name: "deploy-read", kind: tool},
	{file: "wrangler.json*", name: "deploy-read", kind: tool},
	{file: "firebase.json", name: "deploy-read", kind: tool},
	{file: "render.yaml", name: "deploy-read", kind: tool},
	{file: ".gitlab-ci.yml", name: "gitlab", kind: pipeline, root: true},
	{file: "azure-pipelines.yml", name: "azure", kind: pipeline, root: true},
	{file: "Jenkinsfile", name: "jenkins", kind: pipeline, root: true},
	{file: ".travis.yml", name: "travis", kind: pipeline, root: true},
}

// found adds what a file shows.
func (p *Project) found(m marker, file string) {
	dir := path.Dir(file)
	if m.root && dir != "." {
		return
	}
	switch m.kind {
	case language:
		p.Languages = with(p.Languages, Found{m.name, file})
		if !slices.Contains(p.Packages, dir) {
			p.Packages = append(p.Packages, dir)
		}
	case tool:
		p.Tools = with(p.Tools, Found{m.name, file})
	case pipeline:
		p.Pipelines = append(p.Pipelines, file)
	}
}

// with adds a finding whose name is not in the list.
func with(list []Found, f Found) []Found {
	if slices.ContainsFunc(list, func(g Found) bool { return g.Name == f.Name }) {
		return list
	}
	return append(list, f)
}
