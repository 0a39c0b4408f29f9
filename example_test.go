package redfox_test

import (
	"context"
	"fmt"

	"github.com/redfoxdb/redfox"
)

// Compile a program, give it facts, read the answer.
func Example() {
	if err := connections(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 2
	// 1 3
	// 2 3
}

func connections(ctx context.Context) error {
	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", `
		road(x, y) -> int(x), int(y).
		reach(x, y) <- road(x, y).
		reach(x, z) <- reach(x, y), road(y, z).
	`)}, redfox.Options{})
	if err != nil {
		return err
	}
	facts := redfox.NewFacts().Rows("road", []any{1, 2}, []any{2, 3})
	res, err := prog.Run(ctx, facts, redfox.RunOptions{})
	if err != nil {
		return err
	}
	for row := range res.Rows("reach") {
		fmt.Println(row...)
	}
	return nil
}
