// Package domain finds the string domains of a kernel graph: the sets of
// columns, registers and constants of type string that can meet, by a copy, a
// probe or a comparison, and therefore share a dictionary, so that equal
// strings have equal codes. It says of each function on strings how code is to
// carry it out.
//
// In: a verified harmony.Program. Out: Domains, which code generation and the
// runtimes ask. The same text has the same domains with the same numbers. It
// must not import an engine or stored data: package runtime/prepare makes the
// dictionaries. Of redfox it imports harmony, harmony/abi, internal/bounds,
// queryplan and scalar. No flag prints it.
//
// # Functions
//
// A comparison of strings is one of codes: of two registers, or of a register
// with the place that a constant has among the sorted strings. Min and max are
// those of codes.
//
// A function of one string, all its other arguments constant, is a table: it is
// evaluated once for each entry of a dictionary, before the kernels run. If its
// result is a string, that enters the dictionary of another domain, which
// cannot then feed the first: a function around a loop, such as that of
// r(string:add[x, "a"]) <- r(x), may have any number of strings.
//
// All other functions with a string for argument or result call back to the
// host, or are left to it (package weaver/partition). Their results enter a
// dictionary at run time, unsorted: the domain grows, and its codes do not
// order as strings do. Functions of datetimes that take a unit by name need
// nothing at run time if that is a constant.
package domain
