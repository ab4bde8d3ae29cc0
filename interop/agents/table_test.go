package agents

var agents = []*agent{codex, opencode, qwen, pi, geminiCLI}

func command(c string) map[string]any { return map[string]any{"command": c} }

var codex = &agent{
	name: "codex", host: "codex", tool: "exec_command",
	args: func(c string) map[string]any { return map[string]any{"cmd": c} },
	command: func(_, prompt string) []string {
		return []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", prompt}
	},
	files: func(base string) map[string]string {
		return map[string]string{".codex/config.toml": `model = "work-model"
model_provider = "gate"
[model_providers.gate]
name = "gate"
base_url = "` + base + `/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`}
	},
}

var opencode = &agent{
	name: "opencode", host: "opencode", tool: "bash", args: command,
	command: func(_, prompt string) []string {
		return []string{"opencode", "run", "--model", "gate/work-model", prompt}
	},
	files: func(base string) map[string]string {
		return map[string]string{".config/opencode/opencode.json": `{
  "$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled", "small_model": "gate/work-model",
  "permission": {"bash": "allow"},
  "provider": {"gate": {"npm": "@ai-sdk/openai-compatible", "name": "gate", "options": {"baseURL": "` + base + `/v1", "apiKey": "sk-test"},
    "models": {"work-model": {"name": "work", "tool_call": true}}}}}`}
	},
	env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
}

var qwen = &agent{
	name: "qwen-code", host: "qwen-code", tool: "run_shell_command",
	args: func(c string) map[string]any { return map[string]any{"command": c, "is_background": false} },
	command: func(base, prompt string) []string {
		return []string{"qwen", "--yolo", "--auth-type", "openai", "--openai-base-url", base + "/v1", "--openai-api-key", "sk-test", "--model", "work-model", "--prompt", prompt}
	},
	files: func(string) map[string]string {
		return map[string]string{".qwen/settings.json": `{"telemetry":{"enabled":false},"usageStatisticsEnabled":false,"general":{"disableAutoUpdate":true}}`}
	},
}

var pi = &agent{
	name: "pi", host: "pi", tool: "bash", args: command,
	command: func(_, prompt string) []string {
		return []string{"pi", "--provider", "gate", "--model", "work-model", "--print", prompt}
	},
	files: func(base string) map[string]string {
		return map[string]string{".pi/agent/models.json": `{"providers":{"gate":{"baseUrl":"` + base + `/v1","api":"openai-completions","apiKey":"sk-test",
  "models":[{"id":"work-model","name":"work","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":4096,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`}
	},
	env: []string{"PI_OFFLINE=1"},
}

var geminiCLI = &agent{
	name: "gemini-cli", host: "gemini-cli", gemini: true, tool: "run_shell_command", args: command,
	command: func(_, prompt string) []string {
		return []string{"gemini", "--yolo", "--skip-trust", "--model", "gemini-2.5-flash", "--prompt", prompt}
	},
	files: func(string) map[string]string {
		return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false}}`}
	},
	env: []string{"GEMINI_API_KEY=test"},
}
