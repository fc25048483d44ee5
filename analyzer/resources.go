package analyzer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// The shapes of a resource that does not fit.
const (
	notAdvertised = "not-advertised"
	tooLarge      = "too-large"
	exhausted     = "exhausted"
	// Fragmented is free in sum, and not on one node that passes the rest.
	Fragmented = "fragmented"
)

var resourceShapes = []string{tooLarge, exhausted, Fragmented}

// explainResource finds out how memory, CPU or a generic resource is short.
func explainResource(w *Waiting, reason filters.Reason) Finding {
	what, node := reason.What, w.Nearest.Node
	asked, free := filters.Asked(w.Task())[what], node.Free(what)
	shape := resourceShape(w, what)
	evidence := Evidence{
		What: what, Unit: unitOf(what), Node: node.Name,
		Asked: &asked, Free: &free, Short: new(w.Nearest.Short(w.Task())[what]), Total: new(node.Total(what)),
		Holders: holders(w, node, what),
	}
	finding := Finding{Shape: shape, Evidence: []Evidence{evidence}, Check: resourceChecks(w, what, shape)}
	asks := fmt.Sprintf("each task reserves %s", amount(what, asked))
	nearest := fmt.Sprintf("%s comes closest with %s free, short by %s", node.Name, figure(what, free), figure(what, *evidence.Short))
	switch {
	case asked == 0:
		finding.Summary = fmt.Sprintf("no eligible node that passes the rest takes a task with any reservation, since more %s is reserved there than it has: on %s, by %s",
			ResourceName(what), node.Name, figure(what, *evidence.Short))
	case w.Task().NodeID != "" && shape != notAdvertised:
		finding.Summary = fmt.Sprintf("%s; %s, where it has to run, has %s free of %s, short by %s",
			asks, node.Name, figure(what, free), figure(what, *evidence.Total), figure(what, *evidence.Short))
	case shape == notAdvertised:
		finding.Summary = fmt.Sprintf("%s, and no eligible node offers that kind", asks)
		finding.Evidence[0].Found, finding.Evidence[0].Hint = offeredKinds(w, what)
		if hint := finding.Evidence[0].Hint; hint != "" {
			finding.Summary += "; " + hint
		}
		if kind := strings.TrimPrefix(what, filters.GenericPrefix); w.Task().NodeID == "" {
			finding.behind = []thing{{
				"insufficient-generic-resource", Subject{Kind: ResourceSubject, Name: kind}, "no node that may run them offers the generic resource " + kind,
			}}
		}
	case shape == tooLarge:
		largest := largestTotal(w.Eligible, what)
		finding.Summary = fmt.Sprintf("%s, more than any eligible node has in all (%s has most, %s); %s",
			asks, largest.Name, figure(what, largest.Total(what)), nearest)
	case shape == exhausted:
		finding.Summary = fmt.Sprintf("%s, more than is free on all eligible nodes together (%s on %s); %s",
			asks, figure(what, freeSum(w.Eligible, what)), count(len(w.Eligible), "node"), nearest)
	case shape == Fragmented:
		finding.Summary = fmt.Sprintf("%s, and with %s free in all no node that passes the rest has that much; %s",
			asks, figure(what, freeSum(w.Eligible, what)), nearest)
	}
	if h := evidence.Holders; len(h) > 0 {
		finding.Summary += fmt.Sprintf("; %s holds the most there (%s%s)", h[0].Service, figure(what, h[0].Amount), w.Pass.stopNote(w.Pass.State.Task(h[0].Task)))
	}
	return finding
}

// resourceShape compares what is asked with the largest total and with the sum of what is free on eligible nodes.
func resourceShape(w *Waiting, what string) string {
	asked, largest := filters.Asked(w.Task())[what], largestTotal(w.Eligible, what).Total(what)
	switch {
	case strings.HasPrefix(what, filters.GenericPrefix) && largest == 0:
		return notAdvertised
	case asked == 0:
		return exhausted
	case asked > largest:
		return tooLarge
	case asked > freeSum(w.Eligible, what):
		return exhausted
	}
	return Fragmented
}

func largestTotal(rows []filters.Row, what string) *filters.Node {
	return slices.MaxFunc(rows, func(a, b filters.Row) int {
		return compareAmounts(a.Node.Total(what), b.Node.Total(what))
	}).Node
}

func compareAmounts(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func freeSum(rows []filters.Row, what string) float64 {
	sum := 0.0
	for _, row := range rows {
		sum += max(row.Node.Free(what), 0)
	}
	return sum
}

func holders(w *Waiting, node *filters.Node, what string) []Holder {
	var all []Holder
	for _, h := range node.Holders(what) {
		all = append(all, Holder{Service: serviceName(w.Pass, h.Task), Task: h.Task.ID, Node: node.Name, Amount: h.Amount, Stopping: !isLive(h.Task)})
	}
	return all[:min(len(all), most)]
}

// serviceName is the name of a task's service; the service's id where it is gone, the task's where it has none.
func serviceName(p *Pass, t *api.Task) string {
	switch s := p.State.Service(t.ServiceID); {
	case s != nil:
		return s.Spec.Annotations.Name
	case t.ServiceAnnotations.Name != "":
		return t.ServiceAnnotations.Name
	case t.ServiceID != "":
		return t.ServiceID
	}
	return t.ID
}

// offeredKinds tells which kinds the eligible nodes offer instead, and where else the wanted one is offered.
func offeredKinds(w *Waiting, what string) (found []Found, hint string) {
	kinds := map[string][]string{}
	for _, row := range w.Eligible {
		for _, kind := range row.Node.Kinds() {
			kinds[kind] = append(kinds[kind], row.Node.Name)
		}
	}
	wanted := strings.TrimPrefix(what, filters.GenericPrefix)
	for kind := range kinds {
		if strings.EqualFold(kind, wanted) {
			hint = fmt.Sprintf("nodes offer %s: kinds are compared to the letter", kind)
		}
	}
	if hint == "" {
		for _, row := range w.Rows {
			if row.Node.Total(what) > 0 {
				hint = fmt.Sprintf("%s offers it, but other filters refuse that node", row.Node.Name)
				break
			}
		}
	}
	return foundIn(kinds), hint
}

// resourceChecks show what the node has in all and what its tasks hold of it: first the one that the shape is about.
func resourceChecks(w *Waiting, what, shape string) []Check {
	node := w.Nearest.Node
	var checks []Check
	switch what {
	case filters.Memory:
		checks = append(checks, Check{
			Command: "docker node inspect -f '{{.Description.Resources.MemoryBytes}}' " + quote(node.Ref()),
			Shows:   strconv.FormatFloat(node.Total(what), 'f', -1, 64),
		})
	case filters.CPU:
		checks = append(checks, Check{
			Command: "docker node inspect -f '{{.Description.Resources.NanoCPUs}}' " + quote(node.Ref()),
			Shows:   strconv.FormatFloat(node.Total(what)*1e9, 'f', 0, 64),
		})
	default:
		checks = append(checks, Check{
			Command: "docker node inspect -f '{{range .Description.Resources.GenericResources}}" +
				"{{with .DiscreteResourceSpec}}{{.Kind}}={{.Value}} {{end}}{{with .NamedResourceSpec}}{{.Kind}}={{.Value}} {{end}}{{end}}' " + quote(node.Ref()),
			Shows: node.Offers(),
		})
	}
	held := node.Holders(what)
	if len(held) == 0 || strings.HasPrefix(what, filters.GenericPrefix) {
		return checks
	}
	field, scale := "MemoryBytes", 1.0
	if what == filters.CPU {
		field, scale = "NanoCPUs", 1e9
	}
	command := "docker inspect --type task -f '{{.Spec.Resources.Reservations." + field + "}}'"
	var shows []string
	for _, h := range held[:min(len(held), most)] {
		command += " " + h.Task.ID
		shows = append(shows, strconv.FormatFloat(h.Amount*scale, 'f', 0, 64))
	}
	checks = append(checks, Check{Command: command, Shows: strings.Join(shows, "\n")})
	if shape == exhausted || shape == Fragmented {
		slices.Reverse(checks)
	}
	return checks
}

func whyResource(w *Waiting, reason filters.Reason, rows []filters.Row) []string {
	return whyEach(rows, func(row filters.Row) []string {
		short, is := row.Short(w.Task())[reason.What]
		if !is {
			return nil
		}
		return []string{fmt.Sprintf("%s: %s free of %s, short by %s", row.Node.Name, figure(reason.What, row.Node.Free(reason.What)),
			amount(reason.What, row.Node.Total(reason.What)), figure(reason.What, short))}
	})
}

// whyEach says why the first nodes refuse; of the others only that they do.
func whyEach(rows []filters.Row, why func(filters.Row) []string) []string {
	var lines []string
	for i, row := range rows {
		if len(lines) >= most {
			return append(lines[:most], fmt.Sprintf("and so on for %s", count(len(rows)-i, "more node")))
		}
		lines = append(lines, why(row)...)
	}
	return lines
}

// foundIn turns values and their nodes into evidence, the commonest first.
func foundIn(nodes map[string][]string) []Found {
	var found []Found
	for value, names := range nodes {
		slices.Sort(names)
		found = append(found, Found{Value: value, Nodes: names[:min(len(names), most)], Count: len(names)})
	}
	return commonest(found)
}

// commonest puts the values that most nodes have first, and leaves out what is too much to tell.
func commonest(found []Found) []Found {
	slices.SortFunc(found, func(a, b Found) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Value, b.Value)
	})
	return found[:min(len(found), most)]
}
