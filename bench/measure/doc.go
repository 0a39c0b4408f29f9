// Package measure holds what a measurement is: times of repeated runs, their
// median, the machine and its memory bandwidth, and the report of a suite as
// JSON and as a chart.
//
// In: times of runs. Out: a Report. It must not import any phase or engine.
// `redfox bench --out` writes its reports.
package measure
