package shell

import "slices"

// operator reads an operator between commands.
func (r *strictReader) operator(c byte) bool {
	double := r.pos+1 < len(r.text) && r.text[r.pos+1] == c
	if double && c == ';' {
		if (r.needs || r.prefixed) && !r.inCommand() || r.inCommand() && !r.end() || !slices.Contains(r.enders, ";;") {
			return false
		}
		r.pos += len(";;")
		r.ender = ";;"
		return r.pos == len(r.text) || r.text[r.pos] != '&'
	}
	if !r.inCommand() && !r.looped || r.inCommand() && !r.end() {
		return false
	}
	r.pos++
	if double {
		r.pos++
	}
	if r.pos < len(r.text) && (r.text[r.pos] == '&' || r.text[r.pos] == '>' && c == '&') {
		return false // |& and &> are not POSIX
	}
	if c == '&' && !double && (r.repeats || r.endless) {
		return false // any number of processes, or one that outlives the line
	}
	r.needs, r.piped, r.follows = double || c == '|', c == '|' && !double, false
	if r.piped && r.looped {
		r.follows = true
		for i := r.opened; i < len(r.line.Commands); i++ {
			r.line.Commands[i].inner = true
		}
	}
	r.looped = false
	r.apart = r.apart || c == ';' || (c == '&') != double
	return true
}
