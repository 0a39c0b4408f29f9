package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

const (
	asksGraph = "SF.cedge"
	// asksSources is the number of start nodes, and asksPeer the number of
	// those that the peer is asked about.
	asksSources = 1000
	asksPeer    = 50
)

// reachFrom asks what can be reached from one node.
const reachFrom = `edge(x, y) -> int(x), int(y).
_reach(x, y) <- edge(x, y).
_reach(x, z) <- _reach(x, y), edge(y, z).
_(y) <- _reach(%d, y).
`

// peerReach is the same question to DuckDB.
const peerReach = `with recursive reach(y) as (
	select y from edge where x = %d union select edge.y from reach join edge on reach.y = edge.x)
	select count(*) from reach`

// benchAsks asks, for each of a thousand nodes, which nodes can be reached from
// it. The questions go through one session, one after the other, and each is
// compiled, planned and run. Each answer must have as many nodes as a search by
// hand finds. The cpu engine compiles code for each question, so it runs only
// with -engines.
func benchAsks(ctx context.Context, c config) error {
	engines := c.enginesOr(driver.EngineGo, driver.EngineAuto)
	from, to, err := readEdges(c.graphFile(asksGraph))
	if err != nil {
		return err
	}
	a := newArrays(to, from) // reversed, so that into lists the targets of edges
	rng := rand.New(rand.NewPCG(c.seed, 3))
	sources, sizes := make([]int, asksSources), make([]int, asksSources)
	clock := startClock()
	for i := range sources {
		sources[i] = int(from[rng.IntN(len(from))])
		sizes[i] = a.reached(sources[i])
	}
	byHand := clock.taken()
	var rows []table.Row
	seconds := map[string]float64{"by hand": byHand.wall / asksSources}
	row := func(system string, n int, took []float64, all cost) {
		slices.Sort(took)
		seconds[system] = all.wall / float64(n)
		cells := table.Row{system, n, measure.FormatTime(measure.Median(took)),
			measure.FormatTime(took[len(took)*99/100]), measure.FormatTime(all.wall / float64(n))}
		if all.processor > 0 { // unknown for the peer's process
			cells = append(cells, measure.FormatTime(all.processor/float64(n)))
		}
		rows = append(rows, cells)
	}
	for _, engine := range engines {
		took, all, err := c.ask(ctx, engine, from, to, sources, sizes)
		if err != nil {
			return fmt.Errorf("engine %s: %w", engine, err)
		}
		row("redfox, engine "+engine, len(sources), took, all)
	}
	peer, err := suite.StartDuckDB(ctx, c.python, c.threads)
	if err != nil {
		return err
	}
	defer peer.Close()
	load := strings.ReplaceAll(loadEdges, "{file}", strings.ReplaceAll(c.graphFile(asksGraph), "'", "''"))
	if err := peer.Execute(load); err != nil {
		return err
	}
	var took []float64
	all := cost{}
	for i, node := range sources[:asksPeer] {
		t, answer, err := peer.Query(fmt.Sprintf(peerReach, node), 0, 0)
		if err != nil {
			return err
		}
		if got := answer.Rows[0][0]; got != fmt.Sprint(sizes[i]) {
			return fmt.Errorf("DuckDB reaches %s nodes from %d, not %d", got, node, sizes[i])
		}
		took = append(took, t[0].Seconds())
		all.wall += t[0].Seconds()
	}
	row("DuckDB "+peer.Version, asksPeer, took, all)
	report(fmt.Sprintf("what can be reached from a node of %s, by one question after the other, "+
		"%d threads; a search by hand takes %s", asksGraph, c.threads,
		measure.FormatTime(seconds["by hand"])),
		table.Row{"system", "questions", "median", "99 of 100", "mean", "processor"}, rows)
	return c.record("asks/"+asksGraph, seconds, nil)
}

// ask asks a session about each node.
func (c config) ask(ctx context.Context, engine string, from, to []int32, sources,
	sizes []int) (took []float64, all cost, err error) {
	session, err := driver.OpenSession(driver.SessionOptions{Engine: engine, Threads: c.threads})
	if err != nil {
		return nil, all, err
	}
	defer session.Close()
	var db *driver.Database
	clock := startClock()
	for i, node := range sources {
		begin := startClock()
		prog, err := driver.Compile(ctx, []driver.Source{driver.Text("reach.logic",
			fmt.Sprintf(reachFrom, node))}, driver.Options{})
		if err != nil {
			return nil, all, err
		}
		if db == nil {
			if db, err = session.Load(ctx, prog, driver.NewFacts().Columns("edge", from, to),
				driver.LoadOptions{Threads: c.threads}); err != nil {
				return nil, all, err
			}
		}
		res, err := session.Run(ctx, prog, db, driver.RunOptions{})
		if err != nil {
			return nil, all, err
		}
		if got := res.Len("_"); got != int64(sizes[i]) {
			return nil, all, fmt.Errorf("%d nodes are reached from %d, not %d", got, node, sizes[i])
		}
		took = append(took, begin.taken().wall)
	}
	return took, clock.taken(), nil
}

// readEdges returns the edges of a graph's file.
func readEdges(file string) (from, to []int32, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		var x, y int32
		if _, err := fmt.Sscan(lines.Text(), &x, &y); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		from, to = append(from, x), append(to, y)
	}
	return from, to, lines.Err()
}

// reached returns how many nodes can be reached from one by at least one edge.
func (a *arrays) reached(node int) (n int) {
	seen := make([]bool, len(a.links))
	todo := []int32{int32(node)}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, y := range a.into(int(x)) {
			if !seen[y] {
				seen[y] = true
				n++
				todo = append(todo, y)
			}
		}
	}
	return n
}
