package agents

var agents = []*agent{codex, opencode, kilo, qwen, pi, geminiCLI, claudeCode, copilotCLI, cline}

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

var claudeCode = &agent{
	name: "claude-code", host: "claude-code", tool: "Bash",
	args: func(c string) map[string]any { return map[string]any{"command": c, "description": "work"} },
	command: func(_, prompt string) []string {
		return []string{"claude", "--print", "--permission-mode", "bypassPermissions", "--model", "work-model", prompt}
	},
	files: func(string) map[string]string { return nil },
	env: []string{"ANTHROPIC_API_KEY=sk-test", "ANTHROPIC_BASE_URL=BASE", "IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
}

var copilotCLI = &agent{
	name: "copilot-cli", host: "copilot-cli", tool: "bash",
	args: func(c string) map[string]any { return map[string]any{"command": c, "description": "work"} },
	command: func(_, prompt string) []string {
		return []string{"copilot", "--prompt", prompt, "--model", "work-model", "--no-auto-update"}
	},
	files: func(string) map[string]string { return nil },
	env: []string{"COPILOT_ALLOW_ALL=true", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=BASE/v1", "COPILOT_PROVIDER_API_KEY=sk-test",
		"COPILOT_PROVIDER_WIRE_MODEL=work-model", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS=4000"},
}

var cline = &agent{
	name: "cline", host: "cline", tool: "run_commands", ends: true,
	args:    func(c string) map[string]any { return map[string]any{"commands": []string{c}} },
	command: func(_, prompt string) []string { return []string{"cline", "--provider", "openai-compatible", prompt} },
	files: func(base string) map[string]string {
		return map[string]string{".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":
  {"settings":{"provider":"openai-compatible","apiKey":"sk-test","model":"work-model","baseUrl":"` + base + `/v1"},"updatedAt":"2026-01-01T00:00:00.000Z","tokenSource":"manual"}}}`}
	},
}

var kilo = &agent{
	name: "kilo", host: "kilo", tool: "bash",
	args: func(c string) map[string]any { return map[string]any{"command": c, "description": "work"} },
	command: func(_, prompt string) []string {
		return []string{"kilo", "run", "--auto", "--model", "gate/work-model", prompt}
	},
	files: func(base string) map[string]string {
		return map[string]string{".config/kilo/kilo.json": `{
  "autoupdate": false, "share": "disabled", "small_model": "gate/work-model", "permission": {"bash": "allow"},
  "provider": {"gate": {"npm": "@ai-sdk/openai-compatible", "name": "gate", "options": {"baseURL": "` + base + `/v1", "apiKey": "sk-test"},
    "models": {"work-model": {"name": "work", "tool_call": true}}}}}`}
	},
	env: []string{"KILO_DISABLE_AUTOUPDATE=1", "KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_LSP_DOWNLOAD=1", "KILO_TELEMETRY_LEVEL=off"},
}
