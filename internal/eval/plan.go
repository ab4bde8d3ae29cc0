package eval

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// plan is a policy compiled for one tool, one definition and the constant facts of a call. It is
// immutable: all evaluations of a binding share it.
type plan struct {
	// table has the conditions of the files; nil without files.
	table *condition.Table
	lists []list
	rules []rule
	conds []cond
	sites []int32 // the condition each site belongs to
	views []*view
	// bundles are conditions of many rules; own is the number of rules in none.
	bundles []bundle
	own     int32
	start   start
	// recognised is the recognised kind of the tool, "" for none.
	recognised string
	// commands is the number of conditions in all lists that are evaluated command by command.
	commands int32
	// origins is set if a condition looks at the origin of values. same is the number of rules whose
	// values must be from one text.
	origins bool
	same    int32
}

// view is the tool's arguments under one schema; files with the same schema share a view. Each file
// is evaluated with its own schema, so that a file can only tighten the result of another one (K35,
// I15).
type view struct {
	schema *schema.Schema // nil: unknown
	root   *shape
	// applies is set if a file that applies to the tool has this view. A view of guards alone
	// checks neither keys nor the schema: those of the files that apply do.
	applies bool
	// params is the strictest unknown_params of the files that apply.
	params syntax.ParamAction
	// onSchema is the strictest on_schema_violation of the files that apply.
	onSchema stopgate.Mode
	// protected are the protected lists (K2) of the files that apply.
	protected []condition.Protected
}

// list is a run of rules: a tool's rule list in one file, of which the first match decides, or the
// guards of one file, each of which decides on its own. Lists are in the order in which they are
// named when several have the same mode: guards first, then rules, each in file order (S30).
type list struct {
	first, end int32 // its rules
	layer      stopgate.Layer
	// fallback is the mode of the list if no rule matches: ask for rules (D25-10), unattended for
	// guards, which then do not restrict.
	fallback stopgate.Mode
	code     stopgate.Code // of the fallback
	guard    bool          // its rules are guards; the fallback is not a verdict
	suspects bool          // they read undeclared strings, and no verdict waits for them
	// session is set for a session policy on the texts that were read, see [Flow]. It restricts
	// nothing where it does not object.
	session bool
	reason  string // of the policy
	// own are its rules that are in no bundle. Their states are consecutive, as are those of its
	// bundles, which represent all other rules.
	own                    []int32
	firstOwn               int32
	firstBundle, endBundle int32
	// commands is the number of its conditions on command lines of which there may be several: the
	// list is then evaluated once for each command (K29). firstCommand is the index of their
	// results among those of all lists.
	commands, firstCommand int32
	// single are these conditions.
	single []int32
	// otherwise is the result of the list if no condition of its only bundle holds; foreseen is set
	// if it is known.
	otherwise listState
	// coverage: permits of the list need cover; uncovered is their mode without it. view is the
	// list's view.
	coverage  bool
	uncovered stopgate.Mode
	view      *view
	tables    []*syntax.ToolTable
	foreseen  bool
	note      listNote
}

// listNote is the part of a list that only explanations need.
type listNote struct {
	file, table string
	lowered     bool // unattended counts as ask (K35)
	skipped     []skippedRule
}

// skippedRule is a rule that was skipped before the arguments arrived.
type skippedRule struct {
	ast    *syntax.Rule
	reason string
}

// rule is one rule of a list.
type rule struct {
	first, end int32 // its conditions; none: it always matches
	mode       stopgate.Mode
	list       int32
	own        int32             // index of its state, -1 if it is in a bundle
	sole       *syntax.Condition // for a rule in a bundle
	commands   bool              // some condition is evaluated command by command
	ref        *stopgate.RuleRef
	lowered    bool                 // it is written as unattended and counts as ask (K35)
	public     string               // the rule's reason, or the default text (K37)
	same       int32                // its index among the rules whose values must be from one text, -1 for others
	covering   bool                 // a permit that needs cover for every parameter
	ignores    []jsonstream.Pointer // parameters that need no cover
}

// cond is one condition of a rule.
type cond struct {
	rule int32 // -1 for a bundle
	list int32
	// bundle is its index among the bundles, -1 if it belongs to one rule.
	bundle int32
	on     string // the type that a guard looks at
	// all is set if every leaf has to match, otherwise one is enough.
	all        bool
	permissive bool
	sites      int32 // number of sites at which leaves can appear
	kind       condition.Kind
	want       bool              // of present
	value      bool              // of present: null is no value
	null       bool              // it names null
	pointer    string            // of the rule
	expanded   string            // the same with "*" for every array it crosses
	env        *condition.Env    // of its file
	origin     bool              // it looks at the origin of values
	accepts    string            // of a permissive one: the values that satisfy it, for a model
	suspects   bool              // it reads undeclared strings, and has no sites
	command    int32             // its index among the commands of its list, -1 if it is none
	ast        *syntax.Condition // nil for a bundle
	// Conditions of the rule that evaluate redirections of the same command: see linkRedirects.
	readsJudged, writesJudged, accompanied bool
}

// bundle is one condition for many rules: those of a list that have one condition each, all on the
// same pointer and of one polarity. An index evaluates them at once; the sites of their leaves are
// tracked once for all.
type bundle struct {
	rules    []int32
	all      literal.Summary // the first rule of each mode
	commands bool            // they are evaluated command by command: see lanes
}

// generous conditions apply to every leaf that a restriction may be intended for: they also follow
// values of a type that the schema does not declare (B1).
func (c *cond) generous() bool { return !c.all && !c.permissive }
