package queryplan

import "github.com/redfoxdb/redfox/frontend/source"

// Spans returns where a plan keeps the places of its variables, followed by
// those of its commands and unbounded branches, in the order of its text.
func Spans(p *Plan) []*source.Span {
	var out []*source.Span
	for _, v := range p.Vars {
		out = append(out, &v.Span)
	}
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			switch c := c.(type) {
			case *Insert:
				out = append(out, &c.Span)
			case *Check:
				out = append(out, &c.Span)
			case *CheckKey:
				out = append(out, &c.Span)
			}
		}
		if t, ok := b.Term.(*Branch); ok && t.Unbounded {
			out = append(out, &t.Span)
		}
	}
	return out
}
