package bitcodegen

import (
	"fmt"
	"strings"
)

// File is a file's path, relative to the folder of the program, and text.
type File struct{ Name, Text string }

// Kinds is the number of kinds of instructions with which the program has 400
// file predicates and 4,000 clauses.
const Kinds = 99

// Program returns the files of the program. It has 40 clauses for each kind of
// instruction, four of them file predicates, and 40 others.
func Program(kinds int) []File {
	schema, load, rules := &text{}, &text{}, &text{}
	schema.add(common)
	load.add(loading)
	for _, name := range []string{"function", "type", "variable", "call"} {
		load.file("_"+name, name)
	}
	rules.add(analysis)
	for i := range kinds {
		k := kind(i)
		schema.add(declarations, k)
		for _, part := range []string{"", "_operand", "_type", "_flag"} {
			load.file("_"+k+part, k+part)
		}
		load.add(loadingKind, k)
		rules.add(rulesOfKind, k)
		rules.add(roles[i%len(roles)], k)
	}
	return []File{{"schema.logic", schema.String()}, {"load.logic", load.String()},
		{"rules.logic", rules.String()}}
}

// kind names a kind of instructions.
func kind(i int) string { return fmt.Sprintf("op%d", i) }

// text is a file that grows.
type text struct{ strings.Builder }

// add writes clauses, in which @ stands for a kind of instructions.
func (t *text) add(clauses string, kind ...string) {
	for _, k := range kind {
		clauses = strings.ReplaceAll(clauses, "@", k)
	}
	t.WriteString(strings.TrimPrefix(clauses, "\n"))
}

// file binds a file predicate to a file.
func (t *text) file(predicate, name string) {
	fmt.Fprintf(t, "lang:physical:filePath[`%s] = \"facts/%s.tsv\".\n", predicate, name)
	fmt.Fprintf(t, "lang:physical:delimiter[`%s] = \"\\t\".\n", predicate)
}

// common declares what all kinds of instructions share.
const common = `
instruction(x), instruction:id(x:s) -> string(s).
function(f), function:id(f:s) -> string(s).
type(t), type:id(t:s) -> string(s).
variable(v), variable:id(v:s) -> string(s).
instruction:function[x] = f -> instruction(x), function(f).
instruction:to[x] = v -> instruction(x), variable(v).
type:pointer(t) -> type(t).
variable:type[v] = t -> variable(v), type(t).
variable:function[v] = f -> variable(v), function(f).
calls(f, g) -> function(f), function(g).
`

// declarations are those of a kind.
const declarations = `
@(x) -> instruction(x).
@:operand[x, i] = v -> @(x), int(i), variable(v).
@:type[x] = t -> @(x), type(t).
@:flag(x, s) -> @(x), string(s).
`

// loading declares the file predicates without a kind and loads them.
const loading = `
_function(s) -> string(s).
_type(s, pointer) -> string(s), int(pointer).
_variable(s, f, t) -> string(s), string(f), string(t).
_call(f, g) -> string(f), string(g).
+function(f), +function:id(f:s) <- _function(s).
+type(t), +type:id(t:s) <- _type(s, _).
+type:pointer(t) <- _type(s, 1), type:id(t:s).
+variable(v), +variable:id(v:s), +variable:function[v] = f, +variable:type[v] = t <-
    _variable(s, fs, ts), function:id(f:fs), type:id(t:ts).
+calls(f, g) <- _call(fs, gs), function:id(f:fs), function:id(g:gs).
`

// loadingKind declares the file predicates of a kind and loads them.
const loadingKind = `
_@(s, f, to) -> string(s), string(f), string(to).
_@_operand(s, i, v) -> string(s), int(i), string(v).
_@_type(s, t) -> string(s), string(t).
_@_flag(s, flag) -> string(s), string(flag).
+instruction(x), +instruction:id(x:s), +@(x), +instruction:function[x] = f,
    +instruction:to[x] = v <- _@(s, fs, vs), function:id(f:fs), variable:id(v:vs).
+@:operand[x, i] = v <- _@_operand(s, i, vs), instruction:id(x:s), variable:id(v:vs).
+@:type[x] = t <- _@_type(s, ts), instruction:id(x:s), type:id(t:ts).
+@:flag(x, f) <- _@_flag(s, f), instruction:id(x:s).
`

// rulesOfKind are those that every kind has.
const rulesOfKind = `
@:reads(x, v) <- @:operand[x, _] = v.
@:first[x] = v <- @:operand[x, 0] = v.
@:second[x] = v <- @:operand[x, 1] = v.
@:unary(x) <- @:first[x] = _, !@:second[x] = _.
@:mixed(x) <- @:type[x] = t, @:reads(x, v), variable:type[v] = u, t != u.
@:foreign(x, v) <- @:reads(x, v), variable:function[v] = f, instruction:function[x] = g, f != g.
@:unused(x) <- @(x), instruction:to[x] = v, !used(v).
@:label[x] = s <- @:type[x] = t, type:id(t:n), s = "@ " + n.
@:volatile(x) <- @:flag(x, s), string:like(s, "%volatile%").
@:ordered(x) <- @:volatile(x), !@:unary(x), @:type[x] = t, type:pointer(t).
@:count[] = n <- agg<<n = count()>> @(_).
@:in[f] = n <- agg<<n = count()>> @(x), instruction:function[x] = f.
@:most[] = m <- agg<<m = max(n)>> @:in[_] = n.
@:busiest(f) <- @:in[f] = n, @:most[] = n.
statistic["@"] = n <- @:count[] = n.
used(v) <- @:reads(_, v).
`

// roles are the last four clauses of a kind: what its instructions do.
var roles = []string{`
assign(w, v) <- @:first[x] = v, instruction:to[x] = w, @:type[x] = t, type:pointer(t).
@:points(x, o) <- @:first[x] = v, points_to(v, o).
@:wide(x) <- @:first[x] = v, @:second[x] = w, points_to(v, o), points_to(w, o).
@:idle(x) <- @(x), !@:points(x, _).
`, `
allocated(v, x) <- @(x), instruction:to[x] = v, @:type[x] = t, type:pointer(t).
@:escapes(x) <- points_to(v, x), variable:function[v] = f, instruction:function[x] = g, f != g.
@:kept(x) <- @(x), !@:escapes(x).
@:kept_in[f] = n <- agg<<n = count()>> @:kept(x), instruction:function[x] = f.
`, `
stored(v, w) <- @:first[x] = v, @:second[x] = w, @:type[x] = t, type:pointer(t).
@:same(x, y) <- @:first[x] = v, @:first[y] = v, @:second[x] = w, @:second[y] = w, x != y.
@:live(x) <- @(x), instruction:function[x] = f, reachable(f).
@:dead(x) <- @(x), !@:live(x).
`, `
loaded(w, v) <- @:first[x] = v, instruction:to[x] = w, @:type[x] = t, type:pointer(t).
@:next(x, y) <- instruction:to[x] = v, @(x), @:first[y] = v.
@:chain(x, y) <- @:next(x, y).
@:chain(x, z) <- @:chain(x, y), @:next(y, z).
`}

// analysis are the rules about all kinds together.
const analysis = `
reachable(f) <- function:id(f:"main").
reachable(g) <- reachable(f), calls(f, g).
assign(w, v) <- calls(f, g), variable:function[v] = f, variable:function[w] = g,
    variable:type[v] = t, variable:type[w] = t, type:pointer(t), stored(v, _), loaded(w, _).
points_to(v, o) <- allocated(v, o).
points_to(w, o) <- assign(w, v), points_to(v, o).
in_memory(p, o) <- stored(v, w), points_to(v, o), points_to(w, p).
points_to(w, p) <- loaded(w, v), points_to(v, o), in_memory(p, o).
points[v] = n <- agg<<n = count()>> points_to(v, _).
most_points[] = m <- agg<<m = max(n)>> points[_] = n.
unknown(v) <- variable(v), used(v), variable:type[v] = t, type:pointer(t), !points_to(v, _).
statistic["points_to"] = n <- agg<<n = count()>> points_to(_, _).
statistic["reachable"] = n <- agg<<n = count()>> reachable(_).
statistic["unknown"] = n <- agg<<n = count()>> unknown(_).
`
