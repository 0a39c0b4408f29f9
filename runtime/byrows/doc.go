// Package byrows evaluates a plan by ranges of the rows of one table, whose
// partial results are merged.
//
// In: a plan and facts. Out: the steps of the plan, facts cut to a range of
// rows, and the merge of partial results; and Run, by which a device goes
// through facts that its memory cannot hold, a batch of rows at a time. It must
// not import an engine. `redfox explain --device-memory SIZE` lists the steps,
// and `redfox run --engine gpu --device-memory SIZE --stats` the batches.
//
// # How
//
// A plan is cut into pieces (queryplan/segments), and a step is a run of
// pieces. A step that can be computed from partial results over rows of one
// table (parts.ByRows) is divided. Other steps run as a whole.
//
// Run copies the columns of the next batch while the device computes on those
// of the present one (batches.go). So the table passes over the link once,
// whatever its size, as in the batched macro model of HorseQC (Funke et al.,
// "Pipelined Query Processing in Coprocessor Environments", SIGMOD 2018). The
// other facts of a step stay on the device.
package byrows
