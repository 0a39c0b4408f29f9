package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// Pass is a rewrite of plans, described for people.
type Pass struct {
	Name   string // a verb phrase, unique
	Reason string // what it is good for
	Unless string // when it is not legal or does not pay
	Before string // an example's text
	After  string
	Source string // where the idea is described
	// Required passes cannot be switched off.
	Required bool

	run func(*program) error
}

// program is the plan that passes work on. They replace its commands, variables
// and blocks at will; operators and expressions are immutable.
type program struct {
	*queryplan.Plan
	catalog *stats.Catalog
	choices []Choice // of the passes so far
}

// passes is the one table of rewrites, in the order in which each runs first.
var passes = []*Pass{
	mergeColumnGroups,
	inlinePredicates,
	pushFilters,
	foldConstants,
	limitSequences,
	limitOutputs,
	proveKeys,
	pruneColumns,
	mergeAggregates,
	dropCertainMatches,
	dropSubsumedRules,
	pruneVars,
	restrictToDemand,
	groupBeforeLookups,
	limitBeforeLookups,
	compareWithExtremes,
	restrictAggregates,
	scanOnceForGroups,
	aggregateBeforeJoins,
	unfoldJoins,
	splitRecursiveRules,
	projectEarly,
	selectMultijoin,
	orderJoins,
	filterProbes,
	hoistLoopInvariants,
	eliminateCommonSubexpressions,
	placeClears,
}

// sequence is the order in which the passes run. Some run again, since what
// others make gives them more to do; none needs to run until nothing changes.
var sequence = []string{
	"MergeColumnGroups",
	"InlinePredicates",
	"PushFilters",
	"FoldConstants",
	"LimitSequences",
	"LimitOutputs",
	"ProveKeys",
	"MergeColumnGroups",
	"PruneColumns",
	"MergeAggregates",
	"InlinePredicates",
	"MergeColumnGroups",
	"InlinePredicates",
	"PushFilters",
	"DropCertainMatches",
	"InlinePredicates",
	"FoldConstants",
	"DropSubsumedRules",
	"PruneVars",
	"RestrictToDemand",
	"GroupBeforeLookups",
	"LimitBeforeLookups",
	"CompareWithExtremes",
	"RestrictAggregates",
	"CompareWithExtremes",
	"ScanOnceForGroups",
	"AggregateBeforeJoins",
	"UnfoldJoins",
	"SplitRecursiveRules",
	"ProjectEarly",
	"SelectMultijoin",
	"OrderJoins",
	"PruneColumns",
	"FilterProbes",
	"HoistLoopInvariants",
	"EliminateCommonSubexpressions",
	"PlaceClears",
}

// ordering lists the pairs of passes of which the first must have run before
// the second runs for the last time, and why.
var ordering = []struct{ First, Then, Reason string }{
	{"MergeColumnGroups", "InlinePredicates",
		"a view over one table's columns is then row-wise, and may take the place of many uses"},
	{"InlinePredicates", "MergeColumnGroups",
		"columns of one table that several rules read meet in one join"},
	{"InlinePredicates", "PushFilters", "conditions go on into the rules that were put in place"},
	{"MergeColumnGroups", "DropCertainMatches", "a column of a row that is read anyway is no join"},
	{"DropCertainMatches", "InlinePredicates",
		"a rule that lost a join may only choose columns of one relation"},
	{"DropCertainMatches", "FoldConstants", "a check that always holds asks nothing"},
	{"PruneColumns", "DropCertainMatches",
		"a column that nothing uses would keep what it is looked up in"},
	{"DropCertainMatches", "PruneVars", "relations that are asked no more are not read"},
	{"PushFilters", "FoldConstants",
		"conditions that meet at a scan fold, and contradict, together"},
	{"PushFilters", "LimitSequences", "a bound on an index has to stand next to the sequence"},
	{"InlinePredicates", "LimitOutputs", "a predicate that another rule reads is wanted whole"},
	{"MergeColumnGroups", "MergeAggregates",
		"aggregates over different columns of one table then read the same relation"},
	{"PruneColumns", "MergeAggregates",
		"computed columns that nothing uses would tell inputs apart"},
	{"MergeAggregates", "InlinePredicates",
		"what is left of the merged rules only renames columns"},
	{"InlinePredicates", "PruneVars",
		"inputs that became columns of a table are not read any more"},
	{"FoldConstants", "DropSubsumedRules", "equal conditions are written alike"},
	{"DropSubsumedRules", "PruneVars", "what only a dropped rule reads is not derived"},
	{"PruneVars", "RestrictToDemand", "a rule that goes asks for nothing"},
	{"PushFilters", "RestrictToDemand", "constants stand next to what they ask for"},
	{"RestrictToDemand", "SplitRecursiveRules", "rules of sets of values are split, too"},
	{"RestrictToDemand", "OrderJoins", "a recursion is joined with few values, then"},
	{"InlinePredicates", "RestrictAggregates",
		"an aggregate has to stand in the join that restricts it"},
	{"PruneColumns", "GroupBeforeLookups", "a column that nothing uses would keep a join below"},
	{"MergeAggregates", "GroupBeforeLookups", "aggregates are alike as the program has them"},
	{"LimitOutputs", "LimitBeforeLookups", "an output's first tuples are a top-k, then"},
	{"GroupBeforeLookups", "LimitBeforeLookups",
		"what is looked up behind groups may go on behind the first of them"},
	{"LimitBeforeLookups", "OrderJoins",
		"what is looked up is joined with what comes first in an order of its own"},
	{"PushFilters", "CompareWithExtremes", "a condition on one relation is in it, then"},
	{"PruneColumns", "CompareWithExtremes",
		"a column that nothing uses would seem to be used for something else"},
	{"CompareWithExtremes", "RestrictAggregates", "groups for few tuples may be few"},
	{"RestrictAggregates", "CompareWithExtremes",
		"pairs for few tuples become groups for these alone"},
	{"PushFilters", "RestrictAggregates", "sizes are those after filters"},
	{"RestrictAggregates", "ScanOnceForGroups",
		"groups of few tuples are those to be made of a temporary"},
	{"GroupBeforeLookups", "AggregateBeforeJoins",
		"what is looked up for a group needs no other group before it"},
	{"PushFilters", "AggregateBeforeJoins", "sizes are those after filters"},
	{"AggregateBeforeJoins", "OrderJoins",
		"groups are joined in another order than what they are made of"},
	{"ScanOnceForGroups", "OrderJoins",
		"a temporary is joined in another order than what it is made of"},
	{"RestrictAggregates", "OrderJoins", "what goes into an aggregate is joined with more, then"},
	{"InlinePredicates", "UnfoldJoins", "a predicate that is used once is no join to look up in"},
	{"PruneColumns", "UnfoldJoins", "a column that nothing uses would keep a join"},
	{"UnfoldJoins", "SplitRecursiveRules", "a rule has the relations of its predicates, then"},
	{"UnfoldJoins", "OrderJoins", "the relations of a predicate are ordered with those of its uses"},
	{"PruneColumns", "SplitRecursiveRules",
		"a column that nothing uses would stay in the auxiliary relation"},
	{"SplitRecursiveRules", "ProjectEarly",
		"an auxiliary relation removes repeated tuples of all rounds, not of one"},
	{"SplitRecursiveRules", "OrderJoins", "the parts of a rule are ordered one by one"},
	{"PushFilters", "ProjectEarly", "sizes are those after filters"},
	{"DropCertainMatches", "ProjectEarly",
		"a relation that is asked no more would keep a variable"},
	{"ProjectEarly", "SelectMultijoin",
		"a cycle may be gone when its variables are eliminated, and a multijoin would bind all of them"},
	{"ProjectEarly", "OrderJoins", "the parts of a rule are ordered one by one"},
	{"PushFilters", "OrderJoins", "sizes are those after filters"},
	{"PushFilters", "SelectMultijoin", "sizes are those after filters"},
	{"MergeColumnGroups", "SelectMultijoin", "a cycle of joins within a table is none"},
	{"SelectMultijoin", "OrderJoins", "what is left around the cycles is ordered"},
	{"MergeColumnGroups", "OrderJoins", "joins within a table are free and not to be ordered"},
	{"PruneColumns", "OrderJoins", "a join that yields no used column may become a semijoin"},
	{"OrderJoins", "FilterProbes", "the order decides which side probes"},
	{"PruneColumns", "FilterProbes", "what the filter and the join read stays the same"},
	{"FilterProbes", "EliminateCommonSubexpressions",
		"what a filter is made of is read again by its join"},
	{"OrderJoins", "HoistLoopInvariants",
		"the order decides which parts of a rule the loop does not change"},
	{"HoistLoopInvariants", "EliminateCommonSubexpressions",
		"invariants of two loops may be the same"},
	{"OrderJoins", "EliminateCommonSubexpressions", "equal bodies are joined in equal orders"},
	{"EliminateCommonSubexpressions", "PlaceClears", "temporaries are cleared too"},
}

func init() {
	if err := checkSequence(); err != nil {
		panic("rewrite: " + err.Error())
	}
}

// checkSequence holds the sequence against the table and the ordering.
func checkSequence() error {
	known := map[string]bool{}
	for _, p := range passes {
		if known[p.Name] {
			return fmt.Errorf("two passes are named %s", p.Name)
		}
		known[p.Name] = true
		if !slices.Contains(sequence, p.Name) {
			return fmt.Errorf("pass %s never runs", p.Name)
		}
	}
	for _, name := range sequence {
		if !known[name] {
			return fmt.Errorf("there is no pass %s", name)
		}
	}
	for _, o := range ordering {
		first, last := slices.Index(sequence, o.First), lastIndex(sequence, o.Then)
		if first < 0 || last < 0 || first > last {
			return fmt.Errorf("%s must run before %s: %s", o.First, o.Then, o.Reason)
		}
	}
	return nil
}

func lastIndex(names []string, name string) int {
	for i := len(names) - 1; i >= 0; i-- {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// Passes lists all passes in the order in which each runs first.
func Passes() []Pass {
	return list.Map(passes, func(p *Pass) Pass { return *p })
}

// lookup returns the pass of that name, or nil.
func lookup(name string) *Pass {
	for _, p := range passes {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// UnknownPassError says that a pass to switch off is not in the table, or that
// it is required.
type UnknownPassError struct {
	Name     string
	Required bool
}

// Error lists what can be switched off.
func (e *UnknownPassError) Error() string {
	if e.Required {
		return fmt.Sprintf("pass %s cannot be switched off", e.Name)
	}
	var names []string
	for _, p := range passes {
		if !p.Required {
			names = append(names, p.Name)
		}
	}
	return fmt.Sprintf("there is no pass %s; the passes are %s", e.Name, strings.Join(names, ", "))
}
