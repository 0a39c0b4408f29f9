package cfg

import "fmt"

// Verify checks the structure of a graph and calls command and variable for
// each command and each variable of a branch. what names the graph in messages,
// and text a command. Reached checks that every block is reached.
func Verify[C, V any](
	what string, blocks []*Block[C, V], text func(C) string, command func(C) error,
	variable func(V) error,
) error {
	if len(blocks) == 0 {
		return fmt.Errorf("the %s has no block", what)
	}
	names, known := map[string]bool{}, map[*Block[C, V]]bool{}
	for _, b := range blocks {
		if names[b.Name] {
			return fmt.Errorf("two blocks are named %s", b.Name)
		}
		names[b.Name], known[b] = true, true
	}
	for _, b := range blocks {
		for _, c := range b.Cmds {
			if err := command(c); err != nil {
				return fmt.Errorf("block %s, %s: %w", b.Name, text(c), err)
			}
		}
		if err := verifyTerm(what, b, known, variable); err != nil {
			return fmt.Errorf("block %s: %w", b.Name, err)
		}
	}
	return nil
}

func verifyTerm[C, V any](
	what string, b *Block[C, V], known map[*Block[C, V]]bool, variable func(V) error,
) error {
	switch t := b.Term.(type) {
	case *Jump[C, V], *Halt[C, V]:
	case *Branch[C, V]:
		if len(t.Vars) == 0 {
			return fmt.Errorf("branch on no variable")
		}
		for _, v := range t.Vars {
			if err := variable(v); err != nil {
				return fmt.Errorf("branch: %w", err)
			}
		}
	default:
		return fmt.Errorf("no jump, branch or halt at the end")
	}
	for _, s := range b.Successors() {
		if !known[s] {
			return fmt.Errorf("the target of its end is not a block of the %s", what)
		}
	}
	return nil
}

// Reached returns an error if a block has no state, so that no path leads to
// it.
func Reached[C, V, S any](blocks []*Block[C, V], at map[*Block[C, V]]S) error {
	for _, b := range blocks {
		if _, ok := at[b]; !ok {
			return fmt.Errorf("block %s is never reached", b.Name)
		}
	}
	return nil
}
