package syntax

import "strings"

// NamesIntersect reports whether two globs over tool names match a common name, and which. Globs have
// the form of [glob.ParseName]: `*` any run, `?` one character, `[a-z]` and `[!a-z]` classes,
// `{a,b}` alternatives, `\x` a literal.
//
// It walks both globs at once over a small alphabet with one character of every kind that the two
// distinguish. budget limits the work; done is false if it is exhausted.
func NamesIntersect(a, b string, budget *int) (name string, meet, done bool) {
	for _, x := range Alternatives(a) {
		for _, y := range Alternatives(b) {
			if *budget--; *budget < 0 {
				return "", false, false
			}
			if name, ok := meeting(nameSteps(x), nameSteps(y)); ok {
				return name, true, true
			}
		}
	}
	return "", false, true
}

// nameStep is one element of a glob: a set of characters, or any run of them.
type nameStep struct {
	run  bool
	fits func(c byte) bool
}

const nameCharacters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:-"

// meeting returns the shortest name that both sequences match.
func meeting(a, b []nameStep) (string, bool) {
	type pair struct{ i, j int }
	seen := map[pair]bool{}
	type node struct {
		pair
		name string
	}
	queue := []node{{}}
	push := func(p pair, name string) {
		if !seen[p] {
			seen[p] = true
			queue = append(queue, node{p, name})
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n.i == len(a) && n.j == len(b) && n.name != "" {
			return n.name, true
		}
		runA, runB := n.i < len(a) && a[n.i].run, n.j < len(b) && b[n.j].run
		if runA {
			push(pair{n.i + 1, n.j}, n.name)
		}
		if runB {
			push(pair{n.i, n.j + 1}, n.name)
		}
		if n.i == len(a) || n.j == len(b) {
			continue
		}
		next := n.pair
		if !runA {
			next.i++
		}
		if !runB {
			next.j++
		}
		for k := range len(nameCharacters) {
			if c := nameCharacters[k]; (runA || a[n.i].fits(c)) && (runB || b[n.j].fits(c)) {
				push(next, n.name+string(c))
				break
			}
		}
	}
	return "", false
}

// nameSteps reads a well-formed glob without braces.
func nameSteps(glob string) []nameStep {
	var steps []nameStep
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			steps = append(steps, nameStep{run: true})
		case '?':
			steps = append(steps, nameStep{fits: func(byte) bool { return true }})
		case '[':
			set, _, _ := strings.Cut(glob[i+1:], "]")
			steps = append(steps, nameStep{fits: class(set)})
			i += len(set) + 1
		case '\\':
			i++
			steps = append(steps, literalStep(glob[i]))
		default:
			steps = append(steps, literalStep(c))
		}
	}
	return steps
}

func literalStep(c byte) nameStep { return nameStep{fits: func(d byte) bool { return c == d }} }

func class(set string) func(byte) bool {
	set, not := strings.CutPrefix(set, "!")
	return func(c byte) bool {
		in := false
		for i := 0; i < len(set); i++ {
			low, high := set[i], set[i]
			if i+2 < len(set) && set[i+1] == '-' {
				high = set[i+2]
				i += 2
			}
			in = in || low <= c && c <= high
		}
		return in != not
	}
}

// Alternatives expands the braces of a glob. A glob with too many alternatives is returned as it
// is.
func Alternatives(glob string) []string {
	const limit = 256
	done, open := []string{}, []string{glob}
	for len(open) > 0 && len(open)+len(done) <= limit {
		g := open[0]
		open = open[1:]
		start, end, parts := braces(g)
		if parts == nil {
			done = append(done, g)
			continue
		}
		for _, part := range parts {
			open = append(open, g[:start]+part+g[end:])
		}
	}
	return append(done, open...)
}

// braces returns the first brace group of a glob and its alternatives.
func braces(glob string) (start, end int, parts []string) {
	depth := 0
	from := 0
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				start, from = i, i+1
			}
		case ',':
			if depth == 1 {
				parts = append(parts, glob[from:i])
				from = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				return start, i + 1, append(parts, glob[from:i])
			}
		}
	}
	return 0, 0, nil
}
