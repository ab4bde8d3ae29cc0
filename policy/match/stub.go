package match

func compileCommand(Spec, bool) (textTest, *SpecError) { return nil, whole(-1, "not built", "") }
func compileURL(Spec, bool) (textTest, *SpecError)     { return nil, whole(-1, "not built", "") }

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
