package hook

// kilo supports the plugins of Kilo Code, whose interface is that of opencode.
func kilo() *Host {
	h := extension("kilo", "Kilo Code")
	h.Limitations = append(h.Limitations, "a failed call sends no event: its output is not observed and reaches the model",
		"a result is withheld from the model only; the screen may show a part of it",
		"sessions started with --pure or KILO_PURE load no plugins, and those with KILO_DISABLE_PROJECT_CONFIG none of a project")
	h.Program, h.Live = "kilo", kiloLive
	h.Settings = Settings{
		Form: Extension, User: ".config/kilo/plugins/stopgate.js", Project: ".kilo/plugins/stopgate.js",
		Moved: Move{Variable: "XDG_CONFIG_HOME", Replaces: ".config"}, Code: opencodeCode,
	}
	h.Moves = []Move{{Variable: "KILO_CONFIG_DIR", Replaces: ".kilo"}, {Variable: "KILO_CONFIG", Adds: true}}
	h.Rules = Rules{"kilo", []string{
		"~/.config/kilo/config.json", "~/.config/kilo/kilo.json", "~/.config/kilo/kilo.jsonc", "~/.config/kilo/opencode.json", "~/.config/kilo/opencode.jsonc",
		"kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc",
	}}
	return h
}

func kiloLive(m Model) Live {
	return Live{
		Tool: "bash", Args: describedArgs,
		Words: []string{"run", "--auto", "--model", "scripted/" + m.Name, m.Prompt},
		Files: map[string]string{".config/kilo/kilo.json": opencodeSettings(m)},
		Env:   []string{"KILO_DISABLE_AUTOUPDATE=1", "KILO_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_LSP_DOWNLOAD=1", "KILO_TELEMETRY_LEVEL=off"},
	}
}
