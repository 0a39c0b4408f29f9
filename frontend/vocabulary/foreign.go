package vocabulary

import (
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Foreign is a function or predicate of other languages.
type Foreign struct {
	Names []string // in lower case
	// Here is what LogiQL has for it, in which ARGS stands for the arguments;
	// "" if Help is a sentence of its own.
	Here string
	Help string
}

// ForeignNames lists functions and predicates of SQL, Prolog and Soufflé that
// have another name in LogiQL.
var ForeignNames = []Foreign{
	{Names: []string{"strlen", "len", "char_length"}, Here: "string:length[ARGS]"},
	{Names: []string{"substr"}, Here: "string:substring[ARGS]"},
	{Names: []string{"ucase", "toupper", "upcase"}, Here: "string:upper[ARGS]"},
	{Names: []string{"lcase", "tolower", "downcase"}, Here: "string:lower[ARGS]"},
	{Names: []string{"to_number", "to_int", "atoi"}, Here: "string:int:convert[ARGS]"},
	{Names: []string{"to_float"}, Here: "string:float:convert[ARGS]"},
	{Names: []string{"to_string"}, Here: "int:string:convert[ARGS]"},
	{Names: []string{"year", "month", "day", "hour"}, Here: `datetime:part[ARGS, "NAME"]`},
	{Names: []string{"cat", "concat"}, Help: `texts are joined by +, as in "a" + s`},
	{Names: []string{"coalesce", "ifnull", "nvl"},
		Help: "a missing value has a default by if f[k] = _ then f[k] else 0"},
	{Names: []string{"match", "like", "contains", "sub_atom"},
		Help: `a text has a pattern if string:like(s, "%a%")`},
	{Names: []string{"between"}, Help: "int:range(1, 9, 1, x) gives x the numbers from 1 to 9"},
	{Names: []string{"member", "memberchk"}, Help: "a value is one of several if x in {1, 2}"},
	{Names: []string{"forall"}, Help: "what holds for all has no counterexample: !(p(x), !q(x))"},
	{Names: []string{"findall", "bagof", "setof", "aggregate_all", "sum_list", "sumlist"},
		Help: "what a formula gives is collected by an aggregate: t[] = v <- agg<<v = total(x)>> p(x)."},
	{Names: []string{"assert", "asserta", "assertz", "retract"},
		Help: "a transaction inserts by +p(x) and deletes by -p(x)"},
	{Names: []string{"write", "writeln", "print", "format", "nl"},
		Help: "a query prints: _(x) <- p(x)."},
}

// OfForeign returns what LogiQL has for a name of another language, also for
// the last part of the name of a function, with arguments: a sentence, and the
// texts that may stand for the application.
func OfForeign(name, args string) (help string, here []string) {
	name = strings.ToLower(name)
	for _, f := range ForeignNames {
		for _, n := range f.Names {
			switch {
			case n != name:
			case f.Here != "":
				text := strings.NewReplacer("ARGS", args, "NAME", name).Replace(f.Here)
				return "write " + text, []string{text}
			default:
				return f.Help, nil
			}
		}
	}
	for _, n := range scalar.WithLastName(name) {
		here = append(here, n+"["+args+"]")
	}
	if len(here) > 0 {
		help = "write " + strings.Join(here, " or ")
	}
	return help, here
}
