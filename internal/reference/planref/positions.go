package planref

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Positions numbers the pairs of a closure as the rounds find them. Which pair
// gets which number is an engine's own affair, so that no output has one:
//
//   - span has the number of pairs, and the least and the greatest position;
//   - taken has the positions that two pairs have, and moved the pairs of which
//     a delta and the whole set disagree about the position: nothing;
//   - round has the first and the last position of each delta;
//   - olds and news have how many of the numbered pairs are found among the old
//     ones and in the delta by their positions;
//   - exact compares columns of tuples that are found by their positions;
//   - texts has how many different texts they make, for which a GPU needs the
//     host;
//   - via goes from a pair to its position and from there to the pair that made
//     it, in the loop by probes of the pairs and behind it by a join on
//     positions.
const Positions = `
var edge(x: int, y: int) input "edge"
var keys(x: int, y: int) derived
var seen(x: int, y: int, p: int) derived
var made(p: int, q: int) derived
var round(lo: int, hi: int, n: int) derived output
var span(n: int, lo: int, hi: int) derived output
var taken(p: int) derived output
var moved(x: int, y: int) derived output
var via(a: int, b: int, x: int, y: int) derived output
var before(n: int) derived output
var olds(n: int) derived output
var news(n: int) derived output
var exact(x: int, z: int) derived output
var text(s: string) derived
var texts(n: int) derived output
var odd(x: int, y: int, z: int) derived output
block b0:
  insert keys
    scan edge(x, y)
  insert keys
    project y, x
      filter lt(x, 5)
        scan edge(x, y)
  merge keys
  branch delta keys -> b1 else b2
block b1:
  insert seen
    scan delta keys(x, y) position p
  merge seen
  insert round
    project lo, hi, n
      aggregate [] lo: int = min(p), hi: int = max(p), n: int = count()
        scan delta keys(_, _) position p
  merge round
  insert before
    aggregate [] n: int = max(p)
      scan old keys(_, _) position p
  merge before
  insert olds
    aggregate [] n: int = count()
      filter and(eq(x, a), eq(y, b))
        join p
          scan seen(x, y, p)
          scan old keys(a, b) position p
  merge olds
  insert news
    aggregate [] n: int = count()
      filter and(eq(x, a), eq(y, b))
        join p
          scan seen(x, y, p)
          scan delta keys(a, b) position p
  merge news
  insert keys
    project x, z
      join y
        scan delta keys(x, y)
        project x as y, z
          scan edge(x, z)
  insert made
    project p, q
      join x, y
        project x, z as y, p
          join z, x
            project x, y, y2 as z, p
              map y2 = y
                scan delta keys(x, y) position p
            project x, z
              scan keys(x, z)
        scan keys(x, y) position q
  merge made
  merge keys
  branch delta keys -> b1 else b2
block b2:
  insert span
    aggregate [] n: int = count(), lo: int = min(p), hi: int = max(p)
      scan keys(x, y) position p
  merge span
  insert taken
    project p
      filter gt(n, 1)
        aggregate [p] n: int = count()
          scan keys(x, y) position p
  merge taken
  insert moved
    project x, y
      anti join x, y, p
        scan seen(x, y, p)
        scan keys(x, y) position p
  merge moved
  insert via
    project a, b, x, y
      join q
        join p
          scan made(p, q)
          scan keys(a, b) position p
        scan keys(x, y) position q
  merge via
  insert odd
    project x, y, z
      filter ne(p, q)
        join x
          scan keys(x, y) position p
          scan keys(x, z) position q
  merge odd
  insert exact
    project x, z
      join p, x
        map z = add(x, 0)
          scan keys(x, _) position p
        scan keys(x, y) position p
  insert exact
    project y, x
      semi join p, x
        project p, y as x, x as y
          scan keys(x, y) position p
        scan keys(x, _) position p
  merge exact
  insert text
    project s
      map s = add(convert:string(p), "th")
        scan keys(_, _) position p
  merge text
  insert texts
    aggregate [] n: int = count()
      scan text(s)
  merge texts
  halt
`

// PositionsEdges returns edges for Positions: a few paths that meet, some of
// them far apart.
func PositionsEdges(n, spread int64) Rows {
	var rows Rows
	for i := range n {
		for _, to := range []int64{i + 1, i * 7 % (n + 3)} {
			rows = append(rows, []scalar.Value{scalar.OfInt(scalar.IntType, i<<spread),
				scalar.OfInt(scalar.IntType, to<<spread)})
		}
	}
	return Dedup(rows)
}

// ThroughPositions returns a plan that answers the same and finds every tuple
// of a derived variable by its position: a join of the positions of a version
// with all tuples takes the place of each scan, and every other one compares
// the tuples, too.
func ThroughPositions(p *queryplan.Plan) *queryplan.Plan {
	p = queryplan.Clone(p)
	for _, b := range p.Blocks {
		for i, c := range b.Cmds {
			if n := queryplan.CommandNode(c); n != nil {
				b.Cmds[i] = queryplan.WithNode(c, throughPositions(n))
			}
		}
	}
	return p
}

func throughPositions(n queryplan.Node) queryplan.Node {
	names, scans := queryplan.ColumnNames(n), 0
	return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
		s, ok := n.(*queryplan.Scan)
		if !ok || s.Var.Kind != queryplan.Derived || s.Position != "" {
			return n
		}
		if s.Version == queryplan.Last {
			return queryplan.LastTuples(s)
		}
		p := names.Fresh("position")
		keep := make([]queryplan.Rename, 0, len(s.Names))
		for _, c := range s.Columns() {
			keep = append(keep, queryplan.Rename{From: c.Name, To: c.Name})
		}
		join := &queryplan.Join{
			Left: &queryplan.Scan{Var: s.Var, Version: s.Version,
				Names: make([]string, len(s.Names)), Position: p},
			Right:  &queryplan.Scan{Var: s.Var, Names: s.Names, Position: p},
			Unique: true,
		}
		if scans++; scans%2 == 0 {
			join.Left = &queryplan.Scan{Var: s.Var, Version: s.Version, Names: s.Names, Position: p}
		}
		if scans%4 == 0 {
			join.Kind = queryplan.Semi
		}
		return &queryplan.Project{Cols: keep, Input: join}
	})
}
