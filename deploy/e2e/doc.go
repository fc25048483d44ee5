// Package e2e holds the tests that run swarmdiag as documented on real swarms of deploy/testbed. They need root, take minutes, and
// are behind the build tag live:
//
//	go test -tags live ./deploy/e2e
//
// LIVE_DOCKER is the version of Docker, 27.5.1 or 20.10; the test of cluster volumes has its own, 28.5.2. LIVE_FAULTS is whole, where
// every remedy of every fault that is proven runs as it is printed; or short for one fault of each kind and its first remedy.
package e2e
