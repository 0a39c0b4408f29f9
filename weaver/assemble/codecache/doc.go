// Package codecache keeps the code of kernel graphs, and finds it again without
// generating any.
//
// In: a kernel graph, what is known of the facts, and a text that names all
// else the code depends on: the target, the compiler and its options, the
// generator. Out: the code as it was made, byte for byte. It must not import
// what makes code or runs it; of redfox it imports the vocabulary of harmony
// alone. No flag prints it.
//
// # Questions and answers
//
// Which code is right depends on the facts only by the answers that generation
// gets when it asks what is known of them, and there is no telling what it asks
// but to let it run. So there are two entries for a graph. The first has the
// questions that generation asked of facts before, whatever the answers were.
// The second lies under the graph, those questions and the answers for the
// facts at hand, and has the code. Generation is deterministic: what asked no
// more than these questions and got these answers came to this code.
//
// Generation that asks further adds to the questions. Code that lies under
// fewer is found no more, and made once again at most.
package codecache
