package textdiff

// edit is a line of a difference: ' ' is in both texts, '-' only in the first, '+' only in the
// second.
type edit struct {
	op   byte
	text string
}

// maxTable limits the memory of a difference, in cells.
const maxTable = 16 << 20

// edits converts the lines a to the lines b: those of the longest common subsequence stay. Texts
// with too many changed lines are replaced completely.
func edits(a, b []string) []edit {
	var out []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		out, a, b = keep(out, a[0]), a[1:], b[1:]
	}
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	same := a[len(a)-tail:]
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	if len(a)*len(b) > maxTable {
		out = replace(out, a, b)
	} else {
		out = common(out, a, b)
	}
	for _, line := range same {
		out = keep(out, line)
	}
	return out
}

// keep adds a line of both texts; there is none after the last line end.
func keep(out []edit, line string) []edit {
	if line == "" {
		return out
	}
	return append(out, edit{' ', line})
}

func replace(out []edit, a, b []string) []edit {
	for _, line := range a {
		if line != "" {
			out = append(out, edit{'-', line})
		}
	}
	for _, line := range b {
		if line != "" {
			out = append(out, edit{'+', line})
		}
	}
	return out
}

// common finds the longest common subsequence by its table of lengths.
func common(out []edit, a, b []string) []edit {
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = keep(out, a[i])
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			out = replace(out, a[i:i+1], nil)
			i++
		default:
			out = replace(out, nil, b[j:j+1])
			j++
		}
	}
	return replace(out, a[i:], b[j:])
}
