package hosts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/script"
)

// googleModel plays turns in the form of Google's API, as far as Gemini CLI needs it.
type googleModel []script.Turn

func (m googleModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Contents []struct{ Role string } `json:"contents"`
		Tools    []any                   `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said := 0
	for _, c := range request.Contents {
		if c.Role == "model" {
			said++
		}
	}
	turn := script.Turn{Say: "{}"} // for requests outside of the conversation
	if len(request.Tools) > 0 {
		turn = m[min(said, len(m)-1)]
	}
	parts := []map[string]any{{"text": turn.Say}}
	for _, c := range turn.Calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": c.Tool, "args": json.RawMessage(c.Args)}})
	}
	answer, err := json.Marshal(map[string]any{
		"candidates":    []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if strings.Contains(r.URL.Path, ":streamGenerateContent") {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}
