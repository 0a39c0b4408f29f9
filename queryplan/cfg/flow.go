package cfg

// Reach returns, for each block of a graph, the blocks that can run after it; a
// block in a loop is among its own.
func Reach[B comparable](blocks []B, successors func(B) []B) map[B]map[B]bool {
	reach := make(map[B]map[B]bool, len(blocks))
	for _, b := range blocks {
		seen := map[B]bool{}
		todo := successors(b)
		for len(todo) > 0 {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen[next] {
				seen[next] = true
				todo = append(todo, successors(next)...)
			}
		}
		reach[b] = seen
	}
	return reach
}

// OnCycle reports whether control can come back to a block.
func OnCycle[B comparable](b B, successors func(B) []B) bool {
	return Reach([]B{b}, successors)[b][b]
}

// Forward solves a forward data-flow problem over the paths from blocks[0]. A
// block starts in the state of the first path that reaches it. meet merges the
// state of another path into it and reports a change, after which the block is
// visited again. step takes a state through a block. The result has the state
// at the entry of each block that is reached.
func Forward[C, V, S any](
	blocks []*Block[C, V], entry S, clone func(S) S, meet func(into, from S) bool,
	step func(*Block[C, V], S) error,
) (map[*Block[C, V]]S, error) {
	at := map[*Block[C, V]]S{blocks[0]: entry}
	for work := blocks[:1]; len(work) > 0; work = work[1:] {
		b := work[0]
		state := clone(at[b])
		if err := step(b, state); err != nil {
			return nil, err
		}
		for _, s := range b.Successors() {
			known, ok := at[s]
			if !ok {
				at[s] = clone(state)
			}
			if !ok || meet(known, state) {
				work = append(work[:len(work):len(work)], s)
			}
		}
	}
	return at, nil
}
