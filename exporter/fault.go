package exporter

import "github.com/swarmdiag/swarmdiag/analyzer"

// fault is what a line is about. The id of a diagnosis also tells the current spec from the previous one, and so moves on with
// every update of a service; the fault does not, nor with the component that holds an unexplained task at the moment.
type fault struct {
	subject      analyzer.Subject
	cause, shape string
}

func faultOf(d *analyzer.Diagnosis) fault {
	return fault{subject: d.Subject, cause: d.Cause, shape: d.Shape}
}

// distinct leaves one diagnosis a fault: the first, with the earliest time of all. A service that is updated while it is stuck
// has one for the tasks of either spec.
func distinct(diagnoses []analyzer.Diagnosis) []analyzer.Diagnosis {
	var found []analyzer.Diagnosis
	at := map[fault]int{}
	for _, d := range diagnoses {
		i, known := at[faultOf(&d)]
		if !known {
			at[faultOf(&d)] = len(found)
			found = append(found, d)
			continue
		}
		found[i].Since = earlier(found[i].Since, d.Since)
	}
	return found
}
