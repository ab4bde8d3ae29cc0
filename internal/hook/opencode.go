package hook

import _ "embed" // JavaScript of the plugin

//go:embed opencode.js
var opencodeCode string

// opencode supports the plugins of opencode.
func opencode() *Host {
	h := extension("opencode", "opencode")
	h.Limitations = append(h.Limitations, "a failed call sends no event: its output is not observed and reaches the model",
		"a result is withheld from the model only; the screen may show a part of it")
	h.Program, h.Live = "opencode", opencodeLive
	h.Settings = Settings{
		Form: Extension, User: ".config/opencode/plugins/stopgate.js", Project: ".opencode/plugins/stopgate.js",
		Moved: Move{Variable: "XDG_CONFIG_HOME", Replaces: ".config"}, Code: opencodeCode,
	}
	h.Moves = []Move{{Variable: "OPENCODE_CONFIG_DIR", Replaces: ".opencode"}, {Variable: "OPENCODE_CONFIG", Adds: true}}
	h.Rules = Rules{"opencode", []string{"~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc", "opencode.json", "opencode.jsonc"}}
	return h
}

func opencodeLive(m Model) Live {
	return Live{
		Tool: "bash", Args: describedArgs,
		Words: []string{"run", "--model", "scripted/" + m.Name, m.Prompt},
		Files: map[string]string{".config/opencode/opencode.json": opencodeSettings(m)},
		Env:   []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
	}
}

// opencodeSettings returns settings with the scripted model as a provider.
func opencodeSettings(m Model) string {
	return `{"autoupdate": false, "share": "disabled", "small_model": "scripted/` + m.Name + `", "permission": {"bash": "allow"},
  "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": {"baseURL": "` + m.URL + `/v1", "apiKey": "sk-test"},
    "models": {"` + m.Name + `": {"name": "scripted", "tool_call": true}}}}}`
}
