// Package planref runs query plans the obvious way: bags are slices, joins are
// maps, nothing is shared or skipped. It is the meaning of a plan in one place,
// for tests that compare rewrites and engines against it. Package harmonyref
// runs kernel graphs with its pieces.
//
// In: a plan and facts as values. Out: sorted relations, violations, or the
// error that ends the run. Only tests may import it; it imports queryplan and
// scalar.
package planref
