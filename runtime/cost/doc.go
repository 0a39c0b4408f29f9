// Package cost predicts the time of kernels on a GPU.
//
// In: the shapes of a kernel graph, the layouts and sizes of what it reads, and
// how many rows each operator has, which the optimiser estimates or a run
// counts. Out: the Work of each kernel, and its time on a Device by parts. It
// imports no engine and no driver: what it knows of a card is in Device.
// `redfox explain --kernels` prints the predictions.
package cost
