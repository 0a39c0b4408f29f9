package native

import (
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// ascendingRows is how many rows of an index whose keys ascend one task reads.
const ascendingRows = 1 << 17

// Ascend returns the tasks that fill Begins of an index whose rows ascend by
// its key: for each number that a key can have the first row of a key that is
// not less, and behind them the number of rows. Each word is written once, by
// the task that reads the first row at or behind it. Counting the rows of each
// key and adding up would read and write the word of its key for every row.
func (x *index) Ascend(numbers int64) machine.Pass {
	begins := account.Words(&x.Begins)[:numbers+1]
	column, base := x.rel.facts[x.Decl.Key[0]], x.Lay.Fields[0].Base
	first, n := int(x.From), int(x.Until-x.From)
	var tasks []func()
	for start := 0; start < n; start += ascendingRows {
		tasks = append(tasks, func() {
			until := min(start+ascendingRows, n)
			next := 0 // the least number whose begin is not known
			if start > 0 {
				next = int(column.Word(first+start-1)-base) + 1
			}
			var block [1024]int64
			for at := start; at < until; at += len(block) {
				words := block[:min(len(block), until-at)]
				column.Read(words, first+at)
				for i, word := range words {
					for key := int(word - base); next <= key; next++ {
						begins[next] = uint64(at + i)
					}
				}
			}
			if until == n {
				for ; next <= int(numbers); next++ {
					begins[next] = uint64(n)
				}
			}
		})
	}
	return machine.Pass{Tasks: tasks}
}
