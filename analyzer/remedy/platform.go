package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Platform, buildImage)

// buildImage has the client ask the registry again for the platforms of the image. That the image is there for the nodes'
// no copy can show.
func buildImage(s *subject, g *group, _ filters.Reason) []proposal {
	container := g.waiting.Task().Spec.GetContainer()
	if s.service == nil || container == nil {
		return nil
	}
	image, _, _ := strings.Cut(container.Image, "@") // without the digest, which is that of the other platforms
	var has []string
	for _, row := range g.rows {
		if d := row.Node.Description; d != nil && d.Platform != nil && !slices.Contains(has, platformName(d.Platform)) {
			has = append(has, platformName(d.Platform))
		}
	}
	// What the update restarts is known without a copy.
	known := analyzer.Remedy{Risk: analyzer.NoRisk, Note: resumes(s.service)}
	if isJob(s.service) {
		running, completed := begun(s.state, s.service)
		beginsAnew(&known, running, completed)
	} else if s.Running > 0 {
		known.Risk, known.Restarts = analyzer.Restarts, s.Running
	}
	return s.inStack([]proposal{{
		risk: known.Risk, restarts: known.Restarts,
		commands: []command{{serviceUpdate, []string{flag("--image", image)}, s.service.Spec.Annotations.Name}},
		note: join(fmt.Sprintf("once the registry has this tag for %s, or with an image that is there for it; else add a node of the image's platform",
			strings.Join(has, " or ")), known.Note),
	}}, "image", image)
}

// platformName is the platform of a node as images call it.
func platformName(p *api.Platform) string {
	architecture := p.Architecture
	switch architecture {
	case "x86_64":
		architecture = "amd64"
	case "aarch64":
		architecture = "arm64"
	}
	return p.OS + "/" + architecture
}

// elsewhere proposes labels for nodes that the constraints leave out and that have the platform and the plugins which all
// those that they leave lack. Only labels that the node has not: that another one is wrong nothing says.
func (s *subject) elsewhere() []proposal {
	w := s.Waiting[0]
	if len(s.groups) == 0 || !s.groups[0].fails(filters.Platform) && !s.groups[0].fails(filters.Plugins) {
		return nil
	}
	var found []proposal
	for _, row := range w.Rows {
		if fails := row.Verdicts.Fails(); len(fails) != 1 || fails[0] != filters.Constraints || len(found) == enough {
			continue
		}
		expressions, err := constraints.Parse(w.Task().Spec.Placement.Constraints)
		if err != nil {
			return nil
		}
		var set []proposal
		lacking := 0
		for _, e := range expressions {
			if e.Matches(row.Node.Node) {
				continue
			}
			lacking++
			if e.Key.Known() && e.Key.Value(row.Node.Node) == "" {
				one := &group{waiting: w, rows: []filters.Row{row}}
				set = append(set, s.label(one, constraints.Finding{Expression: e})...)
			}
		}
		if provable := !slices.ContainsFunc(set, func(p proposal) bool { return p.change == nil }); len(set) == lacking && provable {
			found = append(found, combine(set))
		}
	}
	return found
}
