package eval

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// plan is a policy compiled for one tool, one definition and the constant facts of
// a call. It is immutable: every evaluation of a binding shares it.
type plan struct {
	lists []list
	rules []rule
	conds []cond
	sites []int32 // the condition each site belongs to
	views []*view
	// bundles are conditions of many rules at once; own is how many rules are in none.
	bundles []bundle
	own     int32
	start   start
	// recognised says what the call was recognised as, beside its name.
	recognised string
	// commands is how many conditions of all lists are judged command by command.
	commands int32
}

// view is the tool's arguments as one or several files see them: those that share
// a schema share a view. Each file is judged by its own schema, so that a file can
// only tighten what another one says (K35, I15).
type view struct {
	schema *schema.Schema // nil: unknown
	root   *shape
	// speaks is set if a file that speaks for the tool looks through this view. A view
	// of guards alone judges neither keys nor the schema: the files that speak do.
	speaks bool
	// params is the strictest unknown_params of the files that speak.
	params syntax.ParamAction
	// onSchema is the strictest on_schema_violation of the files that speak.
	onSchema stopgate.Mode
	// protected lists the targets of which no rule permits the change (K2), as the
	// files that speak see them.
	protected []*match.Protected
}

// list is a run of rules: a tool's rule list in one file, of which the first match
// decides, or the guards of one file, of which each speaks for itself. Lists stand in the order in which they are named when
// several answer the same mode: guards first, then rules, each in the order of the
// files (S30).
type list struct {
	first, end int32 // its rules
	layer      stopgate.Layer
	// fallback is what the list answers when no rule matched: ask for rules (D25-10),
	// unattended for a guard, which then has no objection.
	fallback stopgate.Mode
	code     stopgate.Code // of the fallback
	guard    bool          // its rules are guards; the fallback is no answer
	suspects bool          // they read the strings that nobody declares, and nothing waits for it
	// own are its rules that are in no bundle; their states stand together, as those of
	// its bundles do, which stand for all others.
	own                    []int32
	firstOwn               int32
	firstBundle, endBundle int32
	// commands is how many of its conditions look at command lines of which there may
	// be several: the list is then judged once for each command (K29). firstCommand is
	// where their answers stand among those of all lists.
	commands, firstCommand int32
	// otherwise is what comes out of the list if nothing holds in its only bundle;
	// foreseen says that this is known.
	otherwise listState
	// coverage: permits of the list need it; uncovered is what they answer without. view is
	// through which the list looks.
	coverage  bool
	uncovered stopgate.Mode
	view      *view
	tables    []*syntax.ToolTable
	foreseen  bool
	note      listNote
}

// listNote is what only an explanation shows of a list.
type listNote struct {
	file, table string
	lowered     bool // unattended counts as ask (K35)
	skipped     []skippedRule
}

// skippedRule is a rule that was left out before the arguments were looked at.
type skippedRule struct {
	ast    *syntax.Rule
	reason string
}

// rule is one rule of a list.
type rule struct {
	first, end int32 // its conditions; none: it always matches
	mode       stopgate.Mode
	list       int32
	own        int32             // where its state is kept, -1 if it is in a bundle
	sole       *syntax.Condition // of a rule in a bundle
	commands   bool              // some condition is judged command by command
	ref        *stopgate.RuleRef
	lowered    bool                 // it is written unattended and counts as ask (K35)
	public     string               // the rule's reason, or what is said without one (K37)
	covering   bool                 // a permit that needs every parameter to be covered
	ignores    []jsonstream.Pointer // parameters that need no cover
}

// cond is one condition of a rule.
type cond struct {
	rule int32 // -1 for a bundle
	list int32
	// bundle is its number among the bundles, -1 if it is one rule's.
	bundle int32
	on     string // the type that a guard looks at
	// all says that every leaf has to match, otherwise one is enough.
	all        bool
	permissive bool
	sites      int32 // number of places at which leaves can appear
	kind       match.Kind
	want       bool   // of present
	value      bool   // of present: null is no value
	null       bool   // it names null
	pointer    string // of the rule
	expanded   string // the same with "*" for every array it crosses
	env        match.Env
	suspects   bool              // it reads the strings that nobody declares, and has no sites
	command    int32             // its number among the commands of its list, -1 if it is none
	ast        *syntax.Condition // nil for a bundle
	// What other conditions of the rule judge of the same command: see judgedBeside.
	readsJudged, writesJudged, accompanied bool
}

// bundle is one condition for many rules: those of a list that have one condition each,
// all on the same pointer and of one polarity. An index judges them at once; what they
// have in common - where their leaves can stand, and when none can any more - is followed
// once.
type bundle struct {
	rules []int32
	all   literal.Summary // the first rule of each mode
}

// generous conditions look for any leaf a restriction may mean: they also follow
// values of a type that the schema does not declare (B1).
func (c *cond) generous() bool { return !c.all && !c.permissive }
