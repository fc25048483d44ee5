// Package oracle draws random clusters and asks swarmkit's own scheduler what becomes of their pending tasks. Only tests
// import it: what the analyzer says is held against these answers.
package oracle
