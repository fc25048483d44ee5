// Package exporter tells what the analyzer found: as lines in the log, as metrics and over HTTP. It decides nothing about
// causes; it remembers what was already said. All text that people wrote passes one redactor before it leaves.
package exporter
