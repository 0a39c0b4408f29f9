package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shop is a program whose delta rules react to orders.
const shop = `
product(p) -> string(p).
stock[p] = n -> string(p), int(n).
cart(s, p) -> string(s), string(p).
log(p, n) -> string(p), int(n).
order(s, p, n) -> string(s), string(p), int(n).
lang:pulse(` + "`" + `order).

cart(_, p) -> product(p).
stock[p] = n -> product(p), n >= 0.

product("pear"). product("fig").
+stock["pear"] = 5.
+stock["fig"] = 1.

^stock[p] = m - n <- +order(_, p, n), stock@prev[p] = m.
+cart(s, p) <- +order(s, p, _).
+log(p, n) <- ^stock[p] = n.

sold_out(p) <- stock[p] = 0.
all[] = n <- agg<<n = total(k)>> stock[_] = k.
carts[s] = n <- agg<<n = count()>> cart(s, _).
_(p, n) <- stock[p] = n.
`

// inSessions calls f with a session of each engine.
func inSessions(t *testing.T, f func(*testing.T, *Session)) {
	onEngines(t, func(t *testing.T, engine string) {
		if engine == EngineCPU {
			f(t, QuickSession(t))
			return
		}
		s, err := OpenSession(SessionOptions{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		f(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// bench is a workspace under test.
type bench struct {
	*testing.T
	session *Session
	w       *Workspace
}

func openBench(t *testing.T, s *Session, program string, facts *Facts) *bench {
	t.Helper()
	w, err := s.OpenWorkspace(context.Background(),
		[]Source{Text("program.logic", program)}, facts, Options{},
		RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, s, w}
}

// exec runs a transaction and returns its queries, each as its tuples.
func (b *bench) exec(text string, install bool) (map[string]string, error) {
	res, err := b.session.Exec(context.Background(), b.w, Transaction{
		Sources: []Source{Text("exec.logic", text)}, Install: install},
		RunOptions{})
	if err != nil {
		return nil, err
	}
	return tuples(res), nil
}

func (b *bench) must(text string) map[string]string {
	b.Helper()
	got, err := b.exec(text, false)
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// read returns the contents of predicates.
func (b *bench) read(preds ...string) map[string]string {
	b.Helper()
	res, err := b.session.Read(context.Background(), b.w, RunOptions{Outputs: preds})
	if err != nil {
		b.Fatal(err)
	}
	return tuples(res)
}

func (b *bench) wants(want string, got map[string]string, pred string) {
	b.Helper()
	if got[pred] != want {
		b.Errorf("%s is %s, want %s", pred, got[pred], want)
	}
}

func tuples(res *Result) map[string]string {
	out := map[string]string{}
	for _, pred := range res.Predicates() {
		var rows []string
		for row := range res.Rows(pred) {
			rows = append(rows, fmt.Sprint(row...))
		}
		slices.Sort(rows)
		out[pred] = strings.Join(rows, "; ")
	}
	return out
}

// TestTransactions runs transactions one after the other, and looks at the
// contents between them.
func TestTransactions(t *testing.T) {
	inSessions(t, func(t *testing.T, s *Session) {
		b := openBench(t, s, shop, NewFacts().Rows("cart", []any{"zoe", "fig"}))
		b.wants("fig1; pear5", b.read("_"), "_")

		got := b.must(`+order("ann", "pear", 2). _(p, n) <- ^stock[p] = n, !sold_out(p).`)
		b.wants("pear3", got, "_")
		if len(got) != 1 {
			t.Errorf("the result has %v", got)
		}
		state := b.read("stock", "cart", "log", "order", "all", "carts")
		b.wants("fig1; pear3", state, "stock")
		b.wants("annpear; zoefig", state, "cart")
		b.wants("pear3", state, "log")
		b.wants("", state, "order")
		b.wants("4", state, "all")
		b.wants("ann1; zoe1", state, "carts")

		// A violated constraint names its tuples, and changes nothing.
		_, err := b.exec(`+order("bob", "fig", 3). +order("bob", "pear", 1).`, false)
		var wrong *ProgramError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), `p = "fig", n = -2`) {
			t.Errorf("the error is %v", err)
		}
		// So does a key with two values.
		_, err = b.exec(`^stock["fig"] = 4. +order("bob", "fig", 1).`, false)
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "stock") {
			t.Errorf("the error is %v", err)
		}
		again := b.read("stock", "cart", "log", "order", "all", "carts")
		for pred := range state {
			b.wants(state[pred], again, pred)
		}

		// Installed delta rules react from then on.
		if _, err := b.exec(`gone(p, s) -> string(p), string(s).
			+gone(p, s) <- +order(s, p, _), sold_out(p).
			last[p] = s <- gone(p, s).`, true); err != nil {
			t.Fatal(err)
		}
		b.must(`+order("cid", "fig", 1).`)
		b.wants("figcid", b.read("last"), "last")
		b.must(`-cart("zoe", _). -log(_, _). -product("kiwi").`)
		b.wants("annpear; cidfig", b.read("cart"), "cart")
		b.wants("", b.read("log"), "log")
		b.wants("pear", b.must(`_(p) <- product(p), !sold_out(p).`), "_")
		b.wants("3", b.must(`_(n) <- n = all[].`), "_")
	})
}
