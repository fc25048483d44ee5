package exporter

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// NodeTable writes what Swarm counts on every node, a row a node.
func NodeTable(out io.Writer, nodes []analyzer.NodeSummary) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NODE\tROLE\tSTATE\tAVAILABILITY\tTASKS\tCPU RESERVED\tCPU FREE\tMEMORY RESERVED\tMEMORY FREE\tMEMORY LIMITS\tGENERIC FREE")
	for _, n := range nodes {
		columns := map[string]string{}
		var generic []string
		for _, r := range n.Resources {
			switch r.What {
			case filters.CPU:
				columns[r.What] = fmt.Sprintf("%s of %s\t%s", quantity(&r.Reserved, ""), quantity(&r.Total, ""), quantity(&r.Free, ""))
			case filters.Memory:
				columns[r.What] = fmt.Sprintf("%s of %s\t%s\t%s", quantity(&r.Reserved, r.Unit), quantity(&r.Total, r.Unit), quantity(&r.Free, r.Unit), quantity(&r.Limits, r.Unit))
			default:
				generic = append(generic, fmt.Sprintf("%s %s of %s", strings.TrimPrefix(r.What, filters.GenericPrefix), quantity(&r.Free, ""), quantity(&r.Total, "")))
			}
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", n.Name, n.Role, n.State, n.Availability, n.Tasks,
			columns[filters.CPU], columns[filters.Memory], strings.Join(generic, ", "))
	}
	return table.Flush()
}
