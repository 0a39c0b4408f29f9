// Package provenance explains the tuples of a run: a derivation of a tuple that
// holds, and for one that does not, how far each rule for it comes.
//
// In: a checked program, and the relations of a finished run with the rounds of
// its recursions. Out: derivations, as trees that grow where they are looked
// at, and failures, as text and as JSON. It may import frontend/core and the
// packages below the engines, and must not import a plan or an engine.
//
// A tuple of a recursion is derived from tuples of earlier rounds alone, so a
// derivation is as deep as the number of the tuple's round, and no shallower
// one exists. The same annotation of minimal proof height makes the proof trees
// of Zhao, Subotic and Scholz, Debugging Large-scale Datalog (TOPLAS 2020).
// There a run keeps it in each tuple; here the order of the tuples tells it.
package provenance
