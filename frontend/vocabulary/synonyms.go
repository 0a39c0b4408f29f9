package vocabulary

import "strings"

// synonyms are names that other languages have for aggregations and functions.
var synonyms = map[string]string{
	"mean": "avg", "average": "avg",
	"distinct": "count_distinct", "n_distinct": "count_distinct", "nunique": "count_distinct",
	"approx_count_distinct": "count_distinct", "uniq": "count_distinct",
	"percentile": "quantile", "percentile_disc": "quantile", "quantile_disc": "quantile",
	"percentile_cont": "median", "quantile_cont": "median",
	"string_agg": "string_join", "group_concat": "string_join", "listagg": "string_join",
	"concat": "string_join", "join": "string_join",

	"string:regex": "string:matches", "string:regexp": "string:matches",
	"string:regexp_matches": "string:matches", "string:rlike": "string:matches",
	"string:capture": "string:captures", "string:extract": "string:captures",
	"string:regexp_extract": "string:captures", "string:group": "string:captures",
	"string:regexp_replace": "string:replacematches",
}

// SynonymOf returns what is called by a name in another language.
func SynonymOf(name string) (string, bool) {
	of, ok := synonyms[strings.ToLower(name)]
	return of, ok
}

// IsNumbering reports whether a name is that of a function that numbers rows,
// in seq<<>> or in another language.
func IsNumbering(name string) bool {
	switch strings.ToLower(name) {
	case "number", "row_number", "rank", "dense_rank":
		return true
	}
	return false
}
