package parse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// largeProgram writes a program of about the given number of lines that mixes
// the shapes of clause that programs are made of.
func largeProgram(lines int) string {
	shapes := []string{
		"// relation %[1]d: the orders of one day with what each of them is worth\n",
		"order_%[1]d[o, n] = q -> int(o), int(n), decimal[18,2](q).\n",
		"edge_%[1]d(x, y) -> node(x), node(y).\n",
		"reach_%[1]d(x, z) <- reach_%[1]d(x, y), edge_%[1]d(y, z), !blocked(z), x != z.\n",
		"reach_%[1]d(x, y) <- edge_%[1]d(x, y).\n",
		"total_%[1]d[m] = v <- agg<<v = total(x)>> order_%[1]d[o, n] = q, month[o] = m, x = q * (1d - disc[o, n]).\n",
		"kind_%[1]d[p] = \"even\" <- size[p] = s, (int:mod[s, 2] = 0 ; s < 0), 1 <= s <= 50 * %[1]d.\n",
		"ratio_%[1]d[s] = sell[s] / (buy[s] + fee[cls[s]] * 1.5) - 3.\n",
		"const_%[1]d(%[1]d, \"some text\", #1998-09-02#).\n",
		"\n",
	}
	var b strings.Builder
	for i := 0; i < lines; i++ {
		s := shapes[i%len(shapes)]
		if strings.Contains(s, "%") {
			s = fmt.Sprintf(s, i)
		}
		b.WriteString(s)
	}
	return b.String()
}

// BenchmarkParse parses 5,000 lines, the size that `redfox check` is to answer
// for in 200 ms altogether.
func BenchmarkParse(b *testing.B) {
	f := source.NewFile("large.logic", largeProgram(5000))
	b.SetBytes(int64(len(f.Text)))
	b.ReportAllocs()
	for b.Loop() {
		var diags diag.List
		File(f, &diags)
		if diags.HasErrors() {
			b.Fatal(diags.All()[0].Message)
		}
	}
}
