// Package analyzer names the cause of every task and service that is stuck. It only thinks: what it says follows from
// the State and the time that it is given, without I/O, without a clock, and without a change to its arguments.
//
// One cause is one rule in one file, named by component and cause, with its test and its cases in testdata beside it.
package analyzer
