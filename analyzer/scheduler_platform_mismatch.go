package analyzer

import (
	"fmt"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "platform-mismatch",
	Component: Scheduler,
	Title:     "the image is not built for the platform of any node that is wanted",
	Doc: `When a service is created, the client asks the registry which platforms the image has and pins the service to them. No node that
the constraints leave has one of these.

Use an image that is built for the nodes' platform, or add a node of the image's. If the registry's list is wrong, create the service
anew with --no-resolve-image, which pins no platform; an update with that flag keeps the platforms it has.`,
	Rejects: rejectedBy(filters.Platform),
	Reads:   Platforms,
	Explain: explainPlatform,
	Why:     whyPlatform,
})

func explainPlatform(w *Waiting, _ filters.Reason) Finding {
	image, nodes := platforms(w.Task().Spec.Placement.Platforms), nodePlatforms(w.Wanted)
	var has []string
	for _, f := range foundIn(nodes) {
		has = append(has, fmt.Sprintf("%s%s on %s", f.Value, imageName(f.Value), list(nodes[f.Value])))
	}
	finding := Finding{
		Summary:  fmt.Sprintf("the image is for %s, the nodes it may run on have %s", image, strings.Join(has, ", ")),
		Evidence: []Evidence{{What: "platform", Wanted: image, Found: foundIn(nodes)}},
		Check: []Check{{
			Command: "docker service inspect -f '{{range .Spec.TaskTemplate.Placement.Platforms}}{{.OS}}/{{.Architecture}} {{end}}' " + w.serviceRef(),
			Shows:   strings.ReplaceAll(image, ", ", " "),
		}, {
			Command: "docker node inspect -f '{{.Description.Platform.OS}}/{{.Description.Platform.Architecture}}' " + quote(w.Wanted[0].Node.Ref()),
			Shows:   platformOf(w.Wanted[0].Node),
		}},
	}
	if w.Task().NodeID == "" {
		finding.behind = []thing{{
			"platform-mismatch", Subject{Kind: PlatformSubject, Name: image}, "no node that may run them has the platform of their images, " + image,
		}}
	}
	return finding
}

func platforms(list []*api.Platform) string {
	var all []string
	for _, p := range list {
		all = append(all, p.OS+"/"+p.Architecture)
	}
	return strings.Join(all, ", ")
}

func platformOf(n *filters.Node) string {
	if n.Description == nil || n.Description.Platform == nil {
		return "/"
	}
	return n.Description.Platform.OS + "/" + n.Description.Platform.Architecture
}

// imageName adds what images call an architecture that nodes call otherwise (manager/scheduler.PlatformFilter takes them
// for equal).
func imageName(platform string) string {
	for node, image := range map[string]string{"x86_64": "amd64", "aarch64": "arm64"} {
		if strings.HasSuffix(platform, "/"+node) {
			return fmt.Sprintf(" (%s)", image)
		}
	}
	return ""
}

func nodePlatforms(rows []filters.Row) map[string][]string {
	nodes := map[string][]string{}
	for _, row := range rows {
		nodes[platformOf(row.Node)] = append(nodes[platformOf(row.Node)], row.Node.Name)
	}
	return nodes
}

func whyPlatform(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	var why []string
	for _, f := range foundIn(nodePlatforms(rows)) {
		why = append(why, fmt.Sprintf("image is for %s, node is %s%s", platforms(w.Task().Spec.Placement.Platforms), f.Value, imageName(f.Value)))
	}
	return why
}
