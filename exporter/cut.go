package exporter

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

const (
	// mostNames is how many nodes of a group a long line still names.
	mostNames = 5
	// mostText is how many bytes of a text the longest lines keep.
	mostText = 512
)

// cuts make a line shorter, each more than the one before. They change the line's own copy of the diagnosis. The whole
// diagnosis is what /v1/diagnoses and the command line show.
var cuts = []func(*line){cutNames, cutNodes, cutFacts, cutTexts}

// cutNames names only the first nodes of each group.
func cutNames(l *line) {
	if l.Diagnosis == nil {
		return
	}
	nodes := slices.Clone(l.Diagnosis.Nodes)
	for i, group := range nodes {
		if more := len(group.Names) - mostNames; more > 0 {
			nodes[i].Names = group.Names[:mostNames]
			nodes[i].Why = append([]string{fmt.Sprintf("so do %d more nodes", more)}, group.Why...)
		}
	}
	l.Diagnosis.Nodes = nodes
}

func cutNodes(l *line) {
	if l.Diagnosis != nil {
		l.Diagnosis.Nodes = nil
	}
}

// cutFacts leaves what names the diagnosis, and its texts.
func cutFacts(l *line) {
	if l.Diagnosis != nil {
		l.Diagnosis.Evidence, l.Diagnosis.Check = []analyzer.Evidence{}, []analyzer.Check{}
		l.Diagnosis.Also, l.Diagnosis.Blind, l.Diagnosis.LastChange = []analyzer.Also{}, nil, nil
		l.Diagnosis.RemedyNotes = nil
		l.Diagnosis.Nearest = nil
	}
}

func cutTexts(l *line) {
	l.Msg, l.By = cutText(l.Msg), cutText(l.By)
	if l.Diagnosis != nil {
		l.Diagnosis.Summary, l.Diagnosis.DockerSays = cutText(l.Diagnosis.Summary), cutText(l.Diagnosis.DockerSays)
	}
}

// cutText shortens a text without breaking a character.
func cutText(text string) string {
	if len(text) <= mostText {
		return text
	}
	end := mostText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
