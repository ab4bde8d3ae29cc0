package decide

import (
	_ "embed"
	"net/http"
)

// OpenAPI is the description of the API in OpenAPI 3.1.
//
//go:embed openapi.yaml
var OpenAPI []byte

func openapi(w http.ResponseWriter, _ *http.Request, _ caller) *problem {
	w.Header().Set("Content-Type", "application/yaml")
	w.Write(OpenAPI)
	return nil
}
