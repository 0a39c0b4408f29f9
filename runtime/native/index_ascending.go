package native

import (
	"github.com/redfoxdb/redfox/runtime/account"
)

// ascendingRows is how many rows of an index whose keys ascend one task reads.
const ascendingRows = 1 << 17

// beginTasks returns what fills the begins of an index whose rows ascend by its key: for
// each number that a key can have the first row of a key that is not less, and behind them
// the number of rows. Each word is written once, by the task that reads the first row at
// or behind it; counting the rows of each key and adding up would read and write the word
// of its key for every row.
func (x *index) beginTasks(numbers int) []func() {
	begins := account.Words(&x.begins)[:numbers+1]
	column, base := x.rel.facts[x.decl.Key[0]], x.lay.Fields[0].Base
	n := x.until - x.from
	if n == 0 {
		return nil
	}
	var tasks []func()
	for start := 0; start < n; start += ascendingRows {
		tasks = append(tasks, func() {
			until := min(start+ascendingRows, n)
			next := 0 // the least number whose begin is not known
			if start > 0 {
				next = int(column.Word(x.from+start-1)-base) + 1
			}
			var block [1024]int64
			for at := start; at < until; at += len(block) {
				words := block[:min(len(block), until-at)]
				column.Read(words, x.from+at)
				for i, word := range words {
					for key := int(word - base); next <= key; next++ {
						begins[next] = uint64(at + i)
					}
				}
			}
			if until == n {
				for ; next <= numbers; next++ {
					begins[next] = uint64(n)
				}
			}
		})
	}
	return tasks
}
