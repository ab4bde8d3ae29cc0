package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/config"
)

// Every setting that some package decodes from a policy file is in its JSON Schema.
func TestSchemaKnowsEverySetting(t *testing.T) {
	var schema any
	if err := json.Unmarshal(config.PolicySchema(), &schema); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	var collect func(any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				for key := range properties {
					known[key] = true
				}
			}
			for _, member := range v {
				collect(member)
			}
		case []any:
			for _, element := range v {
				collect(element)
			}
		}
	}
	collect(schema)
	tag := regexp.MustCompile("`toml:\"([^\",]+)")
	other := regexp.MustCompile(`internal/(cli/suite|replay|testkit|lang/tomltree|knowntools|packs)/|_test\.go$`) // files of other kinds
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || other.MatchString(filepath.ToSlash(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range tag.FindAllStringSubmatch(string(text), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s: internal/config/policy.schema.json does not know the key %q", path, m[1])
			}
		}
		return err
	})
	if err != nil || found < 40 {
		t.Fatal(found, err)
	}
}
