// Package lint holds the house rules as tests: which package may import which,
// which library serves where, and how files, comments and documents look.
//
// In: the files of the module, parsed in-process. Out: test failures that name
// the file, the line and the rule. It exports nothing, no package imports it,
// and it must not import any package of redfox, so that it still runs when one
// of them does not build.
package lint
