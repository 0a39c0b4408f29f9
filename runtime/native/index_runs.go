package native

// shortRun is how many rows can be added to an index in about the time that a
// kernel takes to probe one more run.
const shortRun = 256

// single merges the runs of an index, which a kernel is about to probe just
// once.
func (r *run) single(x *index) error {
	if len(x.runs.List) <= 1 {
		return nil
	}
	if err := x.Release(); err != nil {
		return err
	}
	return r.Build(x.Decl, x.Decl.Version)
}
