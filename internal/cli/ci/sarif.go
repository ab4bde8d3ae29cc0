package ci

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/lang/diag"
)

// Tool names the program in a SARIF log.
type Tool struct {
	Version string // semantic version, "" if unknown
	Home    string // URL of the documentation
	// Help is the page that explains the codes; "#" and the code in lower case are
	// appended.
	Help string
}

// The part of SARIF 2.1.0 (OASIS, 2020) that is used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Home    string      `json:"informationUri,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string      `json:"id"`
		Name    string      `json:"name"`
		Short   sarifText   `json:"shortDescription"`
		Help    sarifText   `json:"help"`
		HelpURI string      `json:"helpUri,omitempty"`
		Config  sarifConfig `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
)

var sarifLevels = map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Note: "note"}

// SARIF writes findings as a log of one run, with every code of the catalogue as a rule, so that
// the log shows which checks ran.
func SARIF(w io.Writer, list diag.List, tool Tool) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "stopgate", Version: tool.Version, Home: tool.Home}
	index := make(map[diag.Code]int)
	for i, e := range diag.Catalogue() {
		index[e.Code] = i
		rule := sarifRule{
			ID: string(e.Code), Name: e.Name, Short: sarifText{e.Summary()},
			Help: sarifText{"stopgate " + e.Severity.String() + ": " + e.Summary() + "."}, Config: sarifConfig{sarifLevels[e.Severity]},
		}
		if e.Strict {
			rule.Help.Text += " Strict reading makes it an error."
		}
		if tool.Help != "" {
			rule.HelpURI = tool.Help + "#" + strings.ToLower(string(e.Code))
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, d := range list {
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		r := sarifResult{
			RuleID: string(d.Code), RuleIndex: index[d.Code], Level: sarifLevels[d.Severity], Message: sarifText{text},
			Locations: []sarifLocation{{Physical: physical(d.File, d.Range)}},
		}
		for i, rel := range d.Related {
			file := rel.File
			if file == "" {
				file = d.File
			}
			r.Related = append(r.Related, sarifLocation{ID: i + 1, Physical: physical(file, rel.Range), Message: &sarifText{rel.Message}})
		}
		run.Results = append(run.Results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

// physical returns a location; the file is a relative or absolute URI reference.
func physical(file string, at diag.Range) sarifPhysical {
	path := filepath.ToSlash(file)
	uri := (&url.URL{Path: path}).String() // "a:b" becomes "./a:b"
	if strings.HasPrefix(path, "/") {
		uri = (&url.URL{Scheme: "file", Path: path}).String()
	}
	p := sarifPhysical{Artifact: sarifArtifact{URI: uri}}
	if at.IsValid() {
		p.Region = &sarifRegion{at.Start.Line, at.Start.Column, at.End.Line, at.End.Column}
	}
	return p
}
