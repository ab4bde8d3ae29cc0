package hook

import _ "embed" // JavaScript of the extension

//go:embed pi.js
var piCode string

// pi supports the extensions of Pi.
func pi() *Host {
	h := extension("pi", "Pi")
	h.Limitations = append(h.Limitations, "an extension that runs after this one can read a result before it is withheld, or change it afterwards")
	h.Program, h.Live = "pi", piLive
	h.Settings = Settings{
		Form: Extension, User: ".pi/agent/extensions/stopgate.js", Project: ".pi/extensions/stopgate.js",
		Moved: Move{Variable: "PI_CODING_AGENT_DIR", Replaces: ".pi/agent"}, Code: piCode,
	}
	return h
}

func piLive(m Model) Live {
	return Live{
		Tool: "bash", Args: commandArgs("command"),
		Words: []string{"--provider", "scripted", "--model", m.Name, "--print", m.Prompt},
		Files: map[string]string{".pi/agent/models.json": `{"providers":{"scripted":{"baseUrl":"` + m.URL + `/v1","api":"openai-completions","apiKey":"sk-test",
  "models":[{"id":"` + m.Name + `","name":"scripted","reasoning":false,"input":["text"],"contextWindow":128000,"maxTokens":4096,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`},
		Env: []string{"PI_OFFLINE=1"},
	}
}
