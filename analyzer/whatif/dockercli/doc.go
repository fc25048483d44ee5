// Package dockercli runs Docker's own commands, docker service update and its kin, against a State instead of an engine:
// the managers' own checks accept or refuse what a command sends, and what they accept is kept as a change to try. Nothing
// is sent anywhere.
package dockercli
