package analyzer

import (
	"slices"
	"strings"
)

// ShareRemedies gives each incident the first remedy that helps every one of its diagnoses, one that is proven for all of
// them where there is one. It is called once the remedies are known.
func (r *Result) ShareRemedies() {
	byID := map[string]*Diagnosis{}
	for i := range r.Diagnoses {
		byID[r.Diagnoses[i].ID] = &r.Diagnoses[i]
	}
	for i := range r.Incidents {
		r.Incidents[i].Remedy = sharedRemedy(byID, r.Incidents[i].Diagnoses)
	}
}

// sharedRemedy is empty where there is none, and where a diagnosis was left out or its remedies are not known yet.
func sharedRemedy(byID map[string]*Diagnosis, ids []string) string {
	var all []shared
	for i, id := range ids {
		d := byID[id]
		if d == nil {
			return ""
		}
		if i == 0 {
			for _, r := range d.Remedies {
				all = append(all, shared{Remedy: r, of: len(ids)})
			}
		}
		all = slices.DeleteFunc(all, func(s shared) bool { return !slices.ContainsFunc(d.Remedies, s.isAlso) })
		for i := range all {
			all[i].add(d.Remedies[slices.IndexFunc(d.Remedies, all[i].isAlso)])
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[max(0, slices.IndexFunc(all, shared.isProven))].text()
}

// shared is a remedy of several diagnoses: proven for so many of them.
type shared struct {
	Remedy
	proven, of int
}

// isAlso tells whether another diagnosis has the same remedy. Of a command that no copy can show to help, a good part may
// stand in the note: what to write into a file before. One may say more than the other.
func (s shared) isAlso(r Remedy) bool {
	return r.Command == s.Command && r.At == s.At &&
		(r.Verified || s.Verified || strings.Contains(r.Note, s.Note) || strings.Contains(s.Note, r.Note))
}

func (s *shared) add(r Remedy) {
	if r.Verified {
		s.proven++
	}
	if len(r.Note) > len(s.Note) {
		s.Note = r.Note
	}
}

func (s shared) isProven() bool { return s.proven == s.of }

// text is the command, and where it is not proven for all, as a comment behind it what each diagnosis says besides.
func (s shared) text() string {
	if s.isProven() {
		return s.Command
	}
	says := []string{"not proven"}
	if s.proven > 0 {
		says = []string{"not proven for all of them"}
	}
	if s.At != "" {
		says = append([]string{"on " + s.At}, says...)
	}
	if s.Note != "" {
		says = append(says, s.Note)
	}
	return s.Command + "  # " + strings.Join(says, "; ")
}
