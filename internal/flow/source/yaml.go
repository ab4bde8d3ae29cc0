package source

import (
	"bytes"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/stopgate/stopgate/jsonstream"
)

// yamlToJSON converts a YAML document to JSON text. Scalars that are no plain booleans, null or
// numbers of JSON are strings, as they are written. Refused are anchors, aliases, merge keys,
// several documents, tags of applications and keys that are no scalars.
func yamlToJSON(data []byte) (text []byte, ok bool) {
	if len(data) > maxYAML {
		return nil, false
	}
	var n, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if d.Decode(&n) != nil || d.Decode(&second) != io.EOF || n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return nil, false
	}
	return appendYAML(make([]byte, 0, len(data)+len(data)/4), n.Content[0], 0)
}

func appendYAML(dst []byte, n *yaml.Node, depth int) (text []byte, ok bool) {
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || depth > maxDepth {
		return nil, false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return appendScalar(dst, n), true
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, sub := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, ok = appendYAML(dst, sub, depth+1); !ok {
				return nil, false
			}
		}
		return append(dst, ']'), true
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Tag == "!!merge" || key.Style&yaml.TaggedStyle != 0 {
				return nil, false
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonstream.AppendQuote(dst, key.Value), ':')
			if dst, ok = appendYAML(dst, n.Content[i+1], depth+1); !ok {
				return nil, false
			}
		}
		return append(dst, '}'), true
	}
	return nil, false // an alias
}

func appendScalar(dst []byte, n *yaml.Node) []byte {
	switch n.Tag {
	case "!!null":
		return append(dst, "null"...)
	case "!!bool":
		if n.Value == "true" || n.Value == "false" {
			return append(dst, n.Value...)
		}
	case "!!int", "!!float":
		if _, err := jsonstream.ParseDecimal([]byte(n.Value)); err == nil {
			return append(dst, n.Value...)
		}
	}
	return jsonstream.AppendQuote(dst, n.Value)
}
