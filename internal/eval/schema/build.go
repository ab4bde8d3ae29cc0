package schema

import "github.com/stopgate/stopgate/jsonstream"

// Bounds of a schema. Each refuses the schema, none weakens it.
const (
	maxText     = 4 << 20   // bytes of a JSON Schema
	maxNodes    = 20_000    // schema objects
	maxNotes    = 200       // notes that are kept
	maxPatterns = 16 << 10  // bytes of all patterns together; those behind are notes
	maxBeside   = 100       // schemas that apply to one value through each other
	maxNesting  = 100       // parameters of a policy file in each other
	maxPlaces   = 20_000    // places
	maxMembers  = 1_000_000 // members looked at while places are built
)

// build checks the graph of nodes, prepares them for use and computes the places.
func build(root *Node, source Source) (*Schema, *ParseError) {
	b := &builder{number: map[*Node]int{}, types: map[*Node]Type{}, interned: map[string]*Place{}}
	b.collect(root)
	heights := map[*Node]int{}
	for _, n := range b.nodes {
		if _, err := height(n, heights); err != nil {
			return nil, err
		}
	}
	start, err := b.places(root)
	if err != nil {
		return nil, err
	}
	// Arguments are one object, whether the schema says so or not (A15). No
	// other place has the root as it stands, without a reference, among its seeds.
	start.types = start.types.Intersect(Object)
	return &Schema{Root: root, Source: source, start: start, aliases: b.aliases}, nil
}

// collect numbers every node that root leads to and prepares its lookups.
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
		stack = append(append(stack, n.beside()...), n.below()...)
	}
}

// fewNames is up to how many names are compared one by one.
const fewNames = 8

// property finds the declared member of a name.
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

// prepare computes what the node looks up while it validates. A node that is
// prepared already is not touched: schemas share nodes.
func (n *Node) prepare() {
	if n.index != nil {
		return
	}
	n.combines = len(n.beside()) > 0
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

// height returns how many schemas apply to one value of n through each other. A
// schema that leads back to itself without a step into the value would never end.
func height(n *Node, heights map[*Node]int) (int, *ParseError) {
	if h, ok := heights[n]; ok {
		if h == visiting {
			return 0, &ParseError{Pointer: n.at.pointer(), Message: "the schema refers to itself without a step into the value"}
		}
		return h, nil
	}
	heights[n] = visiting
	most := 0
	for _, one := range n.beside() {
		h, err := height(one, heights)
		if err != nil {
			return 0, err
		}
		most = max(most, h+1)
	}
	if most > maxBeside {
		return 0, &ParseError{Pointer: n.at.pointer(), Message: "references and combinations nest too deep"}
	}
	heights[n] = most
	return most, nil
}
