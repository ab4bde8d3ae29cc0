package gateway_test

import (
	"io"
	"net/http"
	"testing"
)

// Proves F14: real error responses of providers reach the client unchanged, also if they repeat the
// request or have members named like calls.
func TestErrorsOfProviders(t *testing.T) {
	errors := map[string]string{
		"OpenAI":                     `{"error":{"message":"Invalid value","type":"invalid_request_error","param":"messages[1].tool_calls","code":null}}`,
		"OpenAI, pretty":             "{\n  \"error\": {\n    \"message\": \"Rate limit reached\",\n    \"type\": \"tokens\",\n    \"param\": null,\n    \"code\": \"rate_limit_exceeded\"\n  }\n}\n",
		"Anthropic":                  `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`,
		"Anthropic, type of a block": `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: unexpected tool_use"},"request_id":null}`,
		"Azure content filter": `{"error":{"message":"filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation",` +
			`"content_filter_result":{"hate":{"filtered":false,"severity":"safe"}}}}}`,
		"Azure":              `{"statusCode":401,"message":"Unauthorized. Access token is missing."}`,
		"OpenRouter":         `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{}}","provider_name":"X"}},"user_id":"user_1"}`,
		"OpenRouter in full": `{"id":"gen-1","choices":[],"error":{"message":"No endpoints found that support tool use","code":404}}`,
		"vLLM":               `{"object":"error","message":"max context","type":"BadRequestError","param":null,"code":400}`,
		"FastAPI": `{"detail":[{"type":"missing","loc":["body","messages",1,"tool_calls",0,"function"],"msg":"Field required",` +
			`"input":{"role":"assistant","tool_calls":[{"id":"c","type":"function"}]}}]}`,
		"FastAPI, one":   `{"detail":"Not Found"}`,
		"Ollama":         `{"error":"model 'x' not found"}`,
		"Groq":           `{"error":{"message":"Failed to call a function","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=a>{}</function>"}}`,
		"Google":         `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/x","fieldViolations":[{"field":"tools"}]}]}}]`,
		"Mistral":        `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra","input":1}]},"type":"invalid_request_error","param":null,"code":null}`,
		"Bedrock":        `{"message":"Too many tokens","__type":"ThrottlingException"}`,
		"Cloudflare":     `{"success":false,"errors":[{"code":1000,"message":"x"}],"messages":[],"result":null}`,
		"LiteLLM":        `{"error":{"message":"litellm.BadRequestError","type":null,"param":null,"code":"400","provider_specific_fields":null}}`,
		"llama.cpp":      `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`,
		"Kong":           `{"message":"no Route matched with those values","request_id":"1"}`,
		"empty":          `{}`,
		"a failed reply": `{"id":"resp_1","object":"response","status":"failed","error":{"code":"server_error","message":"x"},"output":[],"usage":null}`,
	}
	bodies := map[string]string{
		chatPath:        `{"model":"m","messages":[]}`,
		"/v1/messages":  `{"model":"m","max_tokens":1,"messages":[]}`,
		"/v1/responses": `{"model":"m","input":"x"}`,
	}
	for name, text := range errors {
		r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(400)
			io.WriteString(w, text)
		}), nil)
		for path, body := range bodies {
			if a := r.post(path, body); a.status != 400 || a.body != text {
				t.Errorf("%s at %s: %d %s", name, path, a.status, a.body)
			}
		}
	}
}
