package oracle

import "github.com/redfoxdb/redfox/frontend/core"

// choose evaluates a stratum with predicates that keep the first value of each
// key, round by round: what all rules derive from the round before is inserted
// at once, and facts with what is derived from nothing of the stratum.
func (m *machine) choose(s *core.Stratum) error {
	type derivation struct {
		pred  *core.Pred
		tuple Tuple
	}
	var found []derivation
	for _, p := range s.Preds {
		for _, t := range m.relations[p].tuples {
			found = append(found, derivation{p, t})
		}
		m.relations[p] = newRelation()
	}
	for changed := true; changed; {
		for _, rule := range s.Rules {
			tuples, err := m.derive(rule)
			if err != nil {
				return err
			}
			if m.steps <= 0 {
				return ErrTooLarge
			}
			for _, t := range tuples {
				found = append(found, derivation{rule.Head.Pred, t})
			}
		}
		had := map[*core.Pred]map[string]bool{}
		for _, p := range s.Preds {
			had[p] = map[string]bool{}
			for key := range m.relations[p].values {
				had[p][key] = true
			}
		}
		changed = false
		for _, d := range found {
			if d.pred.Keeps == core.KeepAny && had[d.pred][d.tuple[:d.pred.Keys].String()] {
				continue
			}
			isNew, err := m.insert(d.pred, d.tuple)
			if err != nil {
				return err
			}
			changed = changed || isNew
		}
		found = nil
	}
	return nil
}
