// Package registry is the table of the provider APIs. Everything that depends on an API takes it from
// here: the gateway its routes and codecs, event policies the texts, the replay model its scripts,
// telemetry its transcripts.
//
//	api := registry.Named("anthropic")
//	req, err := api.Request("/v1/messages", body)
//
// A new API is a folder next to internal/provider/anthropic and a row of this table.
package registry

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	anthropiccontent "github.com/stopgate/stopgate/internal/provider/anthropic/content"
	"github.com/stopgate/stopgate/internal/provider/gemini"
	geminicontent "github.com/stopgate/stopgate/internal/provider/gemini/content"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	chatcontent "github.com/stopgate/stopgate/internal/provider/openaichat/content"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	responsescontent "github.com/stopgate/stopgate/internal/provider/openairesponses/content"
	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/internal/provider/transcript"
)

// API is one provider API.
type API struct {
	provider.Dialect
	Vendor *Vendor
	Routes []provider.Route
	// ReadPath adds the parameters in the path to a request. Nil if all are in the body.
	ReadPath   func(r *provider.Request, path string)
	Texts      provider.Texts    // for event policies
	Script     script.Format     // of the replay model
	Transcript transcript.Format // for telemetry
}

// Vendor is a provider, or a family of compatible servers, with one address for all its APIs.
type Vendor struct {
	// Name is the value of api in [upstream.ID], Title the name for people.
	Name, Title string
	// BaseURL is its public address.
	BaseURL string
	// KeyHeader and KeyScheme are the header for the key and the text before the key in it.
	KeyHeader, KeyScheme string
	// KeyParameter is the parameter of a URL that may have the key instead, or "".
	KeyParameter string
	// VersionHeader is a header that only clients of this vendor send.
	VersionHeader string
	// Telemetry is its name in OpenTelemetry's conventions.
	Telemetry string
	// Routes are routes that belong to none of its APIs.
	Routes []provider.Route
}

var (
	openai = &Vendor{
		Name: "openai", Title: "OpenAI", BaseURL: "https://api.openai.com/v1", KeyHeader: "Authorization", KeyScheme: "Bearer ", Telemetry: "openai",
		Routes: []provider.Route{{Method: "POST", Path: "/v1/embeddings", Kind: provider.Passed}},
	}
	anthropicVendor = &Vendor{
		Name: "anthropic", Title: "Anthropic", BaseURL: "https://api.anthropic.com", KeyHeader: "X-Api-Key", VersionHeader: "Anthropic-Version",
		Telemetry: "anthropic",
	}
	google = &Vendor{
		Name: "gemini", Title: "Gemini", BaseURL: "https://generativelanguage.googleapis.com", KeyHeader: "X-Goog-Api-Key",
		KeyParameter: "key", VersionHeader: "X-Goog-Api-Client", Telemetry: "gcp.gemini", Routes: gemini.SharedRoutes,
	}
)

// vendors are the known vendors. The first one serves requests without a mark.
var vendors = []*Vendor{openai, anthropicVendor, google}

// apis are the known APIs, in the order in which messages list them.
var apis = []*API{
	{
		Dialect: openaichat.Dialect{}, Vendor: openai, Routes: openaichat.Routes,
		Texts: chatcontent.Texts, Script: chatcontent.Script, Transcript: chatcontent.Transcript,
	},
	{
		Dialect: openairesponses.Dialect{}, Vendor: openai, Routes: openairesponses.Routes,
		Texts: responsescontent.Texts, Script: responsescontent.Script, Transcript: responsescontent.Transcript,
	},
	{
		Dialect: anthropic.Dialect{}, Vendor: anthropicVendor, Routes: anthropic.Routes,
		Texts: anthropiccontent.Texts, Script: anthropiccontent.Script, Transcript: anthropiccontent.Transcript,
	},
	{
		Dialect: gemini.Dialect{}, Vendor: google, Routes: gemini.Routes, ReadPath: gemini.ReadPath,
		Texts: geminicontent.Texts, Script: geminicontent.Script, Transcript: geminicontent.Transcript,
	},
}

// All returns every API, in the order in which messages list them.
func All() []*API { return apis }

// Names returns the names of all dialects.
func Names() (list []string) {
	for _, api := range apis {
		list = append(list, api.Name())
	}
	return list
}

// Texts returns how the texts of a dialect are found, or nil for an unknown dialect.
func Texts(dialect string) *provider.Texts {
	if api := Named(dialect); api != nil {
		return &api.Texts
	}
	return nil
}

// Vendors returns every vendor.
func Vendors() []*Vendor { return vendors }

// VendorNames returns the names of all vendors.
func VendorNames() (list []string) {
	for _, v := range vendors {
		list = append(list, v.Name)
	}
	return list
}

// VendorNamed returns the vendor with this name, or nil.
func VendorNamed(name string) *Vendor {
	for _, v := range vendors {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// VendorOf returns the vendor for which a request on a shared route is, by its headers.
func VendorOf(h http.Header) *Vendor {
	for _, v := range vendors[1:] {
		if h.Get(v.KeyHeader) != "" || v.sentVersion(h) {
			return v
		}
	}
	return vendors[0]
}

func (v *Vendor) sentVersion(h http.Header) bool {
	return v.VersionHeader != "" && h.Get(v.VersionHeader) != ""
}

// SetKey sets the key of a request.
func (v *Vendor) SetKey(h http.Header, key string) { h.Set(v.KeyHeader, v.KeyScheme+key) }

// KeyHeaders returns the headers in which clients send keys.
func KeyHeaders() []string { return keyHeaders }

var keyHeaders = allKeyHeaders()

func allKeyHeaders() []string {
	list := []string{"Authorization", "X-Api-Key", "Api-Key"}
	for _, v := range vendors {
		if !slices.Contains(list, v.KeyHeader) {
			list = append(list, v.KeyHeader)
		}
	}
	return list
}

// KeyParameters returns the parameters of URLs in which clients send keys.
func KeyParameters() []string { return keyParameters }

var keyParameters = allKeyParameters()

func allKeyParameters() (list []string) {
	for _, v := range vendors {
		if v.KeyParameter != "" {
			list = append(list, v.KeyParameter)
		}
	}
	return list
}

// Named returns the API with the name of its dialect, or nil.
func Named(dialect string) *API {
	for _, api := range apis {
		if api.Name() == dialect {
			return api
		}
	}
	return nil
}

// Turn returns the API whose turns have this path, or nil.
func Turn(path string) *API {
	for _, api := range apis {
		for _, r := range api.Routes {
			if r.Kind == provider.Turn && provider.MatchPath(r.Path, path) {
				return api
			}
		}
	}
	return nil
}

// Closest returns the API in whose form a refused request is answered: the one that its headers or
// its path suggest, else the first.
func Closest(path string, h http.Header) *API {
	found, longest := apis[0], 0
	for _, api := range apis {
		if api.Vendor.sentVersion(h) {
			return api
		}
		for _, r := range slices.Concat(api.Routes, api.Vendor.Routes) {
			fixed, variable, _ := strings.Cut(r.Path, "{")
			if _, method, _ := strings.Cut(variable, "}"); method != "" && !strings.HasSuffix(path, method) {
				continue
			}
			if len(fixed) > longest && strings.HasPrefix(path, fixed) {
				found, longest = api, len(fixed)
			}
		}
	}
	return found
}

// Request parses a request with this path strictly. The error is a *provider.RequestError.
func (a *API) Request(path string, body []byte) (*provider.Request, error) {
	r, err := a.Dialect.Request(body)
	if err == nil && a.ReadPath != nil {
		a.ReadPath(r, path)
	}
	return r, err
}
