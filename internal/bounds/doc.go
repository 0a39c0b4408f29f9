// Package bounds is the analysis of what the columns of a program may hold. It
// bounds their words by abstract interpretation over intervals (Cousot and
// Cousot, POPL 1977), and finds which of their strings can meet and so share a
// dictionary.
//
// In: a Program, which says what its commands add to variables. Plans
// (runtime/portable/columns) and kernel graphs (harmony/ranges, harmony/domain)
// describe themselves as such. Out: bounds of columns, and sets of places that
// hold strings. Of redfox it imports scalar and internal/interval. No flag
// prints it.
package bounds
