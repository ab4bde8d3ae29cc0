package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fakeCodex lists the hooks of the project as codex app-server does, with the trust that a
// file in its home says: "none" lists none, "other" another one. Without the file it cannot
// be asked.
func fakeCodex() {
	if slices.Contains(os.Args, "--version") {
		fmt.Println("codex-cli 9.9.9")
		return
	}
	trust, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".codex/trust"))
	mustWork(err)
	dir, err := os.Getwd()
	mustWork(err)
	file := filepath.Join(dir, ".codex/hooks.json")
	text, err := os.ReadFile(file)
	mustWork(err)
	var settings struct {
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	mustWork(json.Unmarshal(text, &settings))
	command, status := settings.Hooks["PreToolUse"][0].Hooks[0].Command, strings.TrimSpace(string(trust))
	if status == "other" {
		command, status = command+" #", "trusted"
	}
	listed := []any{map[string]any{"sourcePath": file, "eventName": "preToolUse", "enabled": true, "trustStatus": status, "command": command}}
	if status == "none" {
		listed = []any{}
	}
	list, err := json.Marshal(listed)
	mustWork(err)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch {
		case strings.Contains(line, `"initialize"`):
			fmt.Println(`{"method":"remoteControl/status/changed","params":{}}`)
			fmt.Println(`{"id":1,"result":{"userAgent":"codex"}}`)
		case strings.Contains(line, `"hooks/list"`):
			fmt.Printf("{\"id\":2,\"result\":{\"data\":[{\"cwd\":\"/\",\"hooks\":%s,\"warnings\":[],\"errors\":[]}]}}\n", list)
		}
	}
}
