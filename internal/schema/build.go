package schema

import "github.com/stopgate/stopgate/jsonstream"

// Limits of a schema. A schema that exceeds one is rejected.
const (
	maxText      = 4 << 20   // bytes of a JSON Schema
	maxNodes     = 20_000    // schema objects
	maxNotes     = 200       // recorded notes
	maxPatterns  = 16 << 10  // bytes of all patterns together; further ones are notes
	maxSiblings  = 100       // schemas that apply to one value through each other
	maxNesting   = 100       // nesting depth of parameters of a policy file
	maxLocations = 20_000    // places
	maxMembers   = 1_000_000 // members visited while locations are built
)

// build checks the graph of nodes, prepares them and computes the locations.
func build(root *Node, source Source) (*Schema, *ParseError) {
	b := &builder{number: map[*Node]int{}, types: map[*Node]Type{}, interned: map[string]*Location{}}
	b.collect(root)
	heights := map[*Node]int{}
	for _, n := range b.nodes {
		if _, err := height(n, heights); err != nil {
			return nil, err
		}
	}
	start, err := b.locations(root)
	if err != nil {
		return nil, err
	}
	// Arguments are one object, even if the schema does not declare it (A15). No other location has
	// the root itself, without a reference, among its seeds.
	start.types = start.types.Intersect(Object)
	return &Schema{Root: root, Source: source, start: start, aliases: b.aliases}, nil
}

// collect numbers every node below root and prepares its lookups.
func (b *builder) collect(root *Node) {
	stack := []*Node{root}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if _, seen := b.number[n]; seen {
			continue
		}
		b.number[n] = len(b.nodes)
		b.nodes = append(b.nodes, n)
		n.prepare()
		stack = append(append(stack, n.siblings()...), n.below()...)
	}
}

// fewNames is the maximum number of names that are compared one by one.
const fewNames = 8

// property returns the index of the declared member with a name.
func (n *Node) property(name []byte) (i int, declared bool) {
	if len(n.Properties) > fewNames {
		i, declared = n.index[string(name)]
		return i, declared
	}
	for i := len(n.Properties) - 1; i >= 0; i-- {
		if n.Properties[i].Name == string(name) {
			return i, true
		}
	}
	return 0, false
}

// prepare computes the lookup tables of the node. A prepared node is not changed, since schemas
// share nodes.
func (n *Node) prepare() {
	if n.index != nil {
		return
	}
	n.combines = len(n.siblings()) > 0
	n.index = make(map[string]int, len(n.Properties))
	for i, p := range n.Properties {
		n.index[p.Name] = i
	}
	if n.HasEnum {
		n.allowed = make(map[string]bool, len(n.Enum))
		for _, v := range n.Enum {
			n.allowed[canonical(v)] = true
		}
	}
	if n.Const.IsValid() {
		n.exactly = canonical(n.Const)
	}
}

func canonical(v jsonstream.Value) string { return string(jsonstream.AppendCanonical(nil, v)) }

const visiting = -1

// height returns the number of schemas that apply to one value of n through each other. It rejects
// a schema that refers to itself without a step into the value.
func height(n *Node, heights map[*Node]int) (int, *ParseError) {
	if h, ok := heights[n]; ok {
		if h == visiting {
			return 0, &ParseError{Pointer: n.at.pointer(), Message: "the schema refers to itself without a step into the value"}
		}
		return h, nil
	}
	heights[n] = visiting
	most := 0
	for _, one := range n.siblings() {
		h, err := height(one, heights)
		if err != nil {
			return 0, err
		}
		most = max(most, h+1)
	}
	if most > maxSiblings {
		return 0, &ParseError{Pointer: n.at.pointer(), Message: "references and combinations nest too deep"}
	}
	heights[n] = most
	return most, nil
}
