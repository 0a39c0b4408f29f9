package emit

import (
	"github.com/redfoxdb/redfox/weaver/emit/ir"
)

// The constants of IR, whose short names keep its calls on a line.
var (
	i8, i32, i64 = ir.I8, ir.I32, ir.I64
	null         = ir.Null
)
