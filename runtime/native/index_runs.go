package native

// shortRun is how many rows are entered in about the time that a kernel takes
// to run for one more run.
const shortRun = 256

// single makes an index that a kernel is going to probe just once one run.
func (r *run) single(x *index) error {
	if len(x.runs.List) <= 1 {
		return nil
	}
	if err := x.Release(); err != nil {
		return err
	}
	return r.Build(x.Decl, x.Decl.Version)
}
