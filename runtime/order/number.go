package order

import "context"

// Number sets numbers[row] to the place of each row, from 0, among the rows of
// equal group columns, in the order of the keys by; ties are broken by the
// columns that are in neither, ascending.
func (s *Sorter) Number(ctx context.Context, x *Rows, group []int, by []Key, numbers []int64,
) error {
	sel, err := s.Sort(ctx, x, groupKeys(group, by))
	if err != nil {
		return err
	}
	defer sel.Free()
	x.groups(sel.Rows, group, func(from, to int) bool {
		for i, row := range sel.Rows[from:to] {
			numbers[row] = int64(i)
		}
		return true
	})
	return nil
}
