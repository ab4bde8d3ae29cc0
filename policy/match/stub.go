package match

func compileLength(int, Target, bool, Env) (textTest, *SpecError) {
	return nil, whole(-1, "not built", "")
}
func compilePath(Spec, bool, bool, Env) (textTest, *SpecError) {
	return nil, whole(-1, "not built", "")
}
func compileCommand(Spec, bool) (textTest, *SpecError) { return nil, whole(-1, "not built", "") }
func compileURL(Spec, bool) (textTest, *SpecError)     { return nil, whole(-1, "not built", "") }
func compileString(Spec, bool) (textTest, *SpecError)  { return nil, whole(-1, "not built", "") }

// Clean removes from a path what has no meaning: repeated separators, inner "."
// and "x/.." (K4). An absolute path stays absolute, a trailing "/" and a leading
// "./" stay. plain reports that the path is plainly written: nobody reads another
// path in it and it does not leave the directory it starts from.
func Clean(path string) (cleaned string, plain bool) { return path, false }

// MaxReadings is how many readings of one path are listed (K56).
const MaxReadings = 16

// Reading is one way in which some tool could understand a path (K56).
type Reading struct {
	// Path is canonical: relative to the root, or absolute with a leading "/".
	Path string
	// Steps says what was done to the value to get it.
	Steps string
}

// Readings lists the plausible readings of a path in a fixed order, the lexically
// cleaned one first. complete is false if there are more than [MaxReadings]: a
// restrictive condition then holds without looking.
func Readings(path string, env Env, expands bool) (list []Reading, complete bool) { return nil, false }

// Protection says what touching a path or command costs, whatever the rules say.
type Protection uint8

// The zero Protection is none.
const (
	Unprotected     Protection = iota
	ProtectedAsk               // floor ask protected_target (K2, H20)
	ProtectedDenied            // stopgate's own state: deny (S4)
)

// Protected is the built-in list of paths and commands that no rule grants
// (H20, K2, S4).
type Protected struct{}

// NewProtected prepares the list for an environment. files are further paths to
// protect with a floor ask: the policy files in use.
func NewProtected(env Env, files ...string) *Protected { return &Protected{} }

// Path judges the value of a path parameter. entry names what it touches.
func (p *Protected) Path(value []byte) (protection Protection, entry string) { return ProtectedAsk, "" }

// Command judges a command line: the commands that administer stopgate, and
// every word that may be a protected path.
func (p *Protected) Command(line []byte) (protection Protection, entry string) {
	return ProtectedAsk, ""
}

// Command is what is known about a shell command line.
type Command struct {
	// Analysable: the line is a list of simple commands with literal words. If not,
	// it satisfies no permissive condition, and a tool with any condition on the
	// parameter gets the floor command_not_analysable (THREATS E).
	Analysable bool
	// Simple holds the words of each simple command, in text order.
	Simple [][]string
}

// Analyse reads a command line.
func Analyse(line string) Command { return Command{} }

// Name is a glob over tool names and call facts (K0b, G2): case-sensitive, on
// every platform, whole name.
type Name struct{}

// ParseName reads a glob over names. The error is a *SpecError.
func ParseName(glob string) (*Name, error) { return &Name{}, nil }

// Match reports whether the whole name matches.
func (n *Name) Match(name string) bool { return false }

// LiteralPrefix returns the text before the first wildcard; exact is true if the
// whole glob is literal.
func (n *Name) LiteralPrefix() (prefix string, exact bool) { return "", false }

// Answer is what analysis knows.
type Answer uint8

// The zero Answer claims nothing.
const (
	NotProven Answer = iota
	Yes
	No
)

// Covers reports whether every plainly written value that satisfies later also
// satisfies earlier (THREATS 4.4, step 1).
func Covers(earlier, later *Matcher) Answer { return NotProven }
