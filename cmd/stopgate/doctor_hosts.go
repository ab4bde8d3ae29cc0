package main

import (
	"fmt"

	"github.com/stopgate/stopgate/jsonstream"
)

// liveHost is how a host is run without a person, against a model that is ours.
type liveHost struct {
	// tool runs a shell command, under this name in the model's API.
	tool string
	args func(command string) string
	// command is the command line behind the program.
	command func(base string) []string
	// files are settings by their path below the home directory.
	files map[string]string
	env   []string
	// stub are further settings, in the file beside that is not the hook's: the user's, or
	// those of the project, which win.
	beside, stub string
	// google: it speaks Google's API.
	google bool
}

const livePrompt = "Do the work."

func asCommand(name string) func(string) string {
	return func(command string) string {
		return fmt.Sprintf(`{%q:%s}`, name, string(jsonstream.AppendQuote(nil, command)))
	}
}

// described is a command with the description that some hosts want.
func described(command string) string {
	return `{"command":` + string(jsonstream.AppendQuote(nil, command)) + `,"description":"work"}`
}

func liveHosts(base string) map[string]liveHost {
	return map[string]liveHost{
		"claude-code": {tool: "Bash", args: asCommand("command"),
			command: func(string) []string {
				return []string{"--print", "--permission-mode", "bypassPermissions", "--model", liveModel, livePrompt}
			},
			env: []string{"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=sk-test", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1"}},
		"codex": {tool: "exec_command", args: asCommand("cmd"),
			command: func(string) []string {
				return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", livePrompt}
			},
			files: map[string]string{".codex/config.toml": "model = \"" + liveModel + "\"\nmodel_provider = \"doctor\"\n[model_providers.doctor]\nname = \"doctor\"\nbase_url = \"" + base + "/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n" +
				"[projects.\"" + liveWork + "\"]\ntrust_level = \"trusted\"\n"}}, // else it loads no hooks of the directory
		"opencode": {tool: "bash", args: described,
			command: func(string) []string { return []string{"run", "--model", "doctor/" + liveModel, livePrompt} },
			files: map[string]string{".config/opencode/opencode.json": `{"autoupdate": false, "share": "disabled", "small_model": "doctor/` + liveModel + `", "permission": {"bash": "allow"},
  "provider": {"doctor": {"npm": "@ai-sdk/openai-compatible", "name": "doctor", "options": {"baseURL": "` + base + `/v1", "apiKey": "sk-test"},
    "models": {"` + liveModel + `": {"name": "doctor", "tool_call": true}}}}}`},
			env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}},
		"qwen-code": {tool: "run_shell_command", args: func(c string) string {
			return `{"command":` + string(jsonstream.AppendQuote(nil, c)) + `,"is_background":false}`
		},
			command: func(base string) []string {
				return []string{"--yolo", "--auth-type", "openai", "--openai-base-url", base + "/v1", "--openai-api-key", "sk-test", "--model", liveModel, "--prompt", livePrompt}
			},
			files: map[string]string{".qwen/trustedFolders.json": `{"` + liveWork + `":"TRUST_FOLDER"}`}},
		"pi": {tool: "bash", args: asCommand("command"),
			command: func(string) []string {
				return []string{"--provider", "doctor", "--model", liveModel, "--print", livePrompt}
			},
			files: map[string]string{".pi/agent/models.json": `{"providers":{"doctor":{"baseUrl":"` + base + `/v1","api":"openai-completions","apiKey":"sk-test",
  "models":[{"id":"` + liveModel + `","name":"doctor","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":4096,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`},
			env: []string{"PI_OFFLINE=1"}},
		"copilot-cli": {tool: "bash", args: described,
			command: func(string) []string {
				return []string{"--prompt", livePrompt, "--model", liveModel, "--no-auto-update"}
			},
			env: []string{"COPILOT_ALLOW_ALL=true", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + base + "/v1", "COPILOT_PROVIDER_API_KEY=sk-test",
				"COPILOT_PROVIDER_WIRE_MODEL=" + liveModel, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=4000"}},
		"cline": {tool: "run_commands", args: func(c string) string {
			return `{"commands":[` + string(jsonstream.AppendQuote(nil, c)) + `]}`
		},
			command: func(string) []string { return []string{"--provider", "openai-compatible", livePrompt} },
			files: map[string]string{".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":
  {"settings":{"provider":"openai-compatible","apiKey":"sk-test","model":"` + liveModel + `","baseUrl":"` + base + `/v1"},"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`}},
		"gemini-cli": {tool: "run_shell_command", args: asCommand("command"), google: true,
			command: func(string) []string {
				return []string{"--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--prompt", livePrompt}
			},
			// In the settings of the scope in which the hook is not.
			beside: ".gemini/settings.json", stub: `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`,
			files: map[string]string{".gemini/trustedFolders.json": `{"` + liveWork + `":"TRUST_FOLDER"}`},
			env:   []string{"GEMINI_API_KEY=test", "GOOGLE_GEMINI_BASE_URL=" + base}},
	}
}

// liveWork stands in files for the directory in which the host runs.
const liveWork = "${WORK}"

// liveModel is how hosts call the scripted model.
const liveModel = "doctor-model"
