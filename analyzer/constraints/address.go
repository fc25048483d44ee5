package constraints

import "net"

// rangeOf reads the value of a node.ip expression, a single address as the subnet of its own; nil where it is malformed
// (manager/constraint.NodeMatches uses the same two parsers).
func rangeOf(value string) *net.IPNet {
	if ip := net.ParseIP(value); ip != nil {
		if four := ip.To4(); four != nil {
			ip = four
		}
		bits := 8 * len(ip)
		return &net.IPNet{IP: ip, Mask: net.CIDRMask(bits, bits)}
	}
	_, subnet, err := net.ParseCIDR(value)
	if err != nil {
		return nil
	}
	return subnet
}

// disjoint tells whether no address is in both subnets: of two that share one, one contains the other's first.
func disjoint(a, b *net.IPNet) bool { return !a.Contains(b.IP) && !b.Contains(a.IP) }

// within tells whether all of the inner subnet is in the outer one.
func within(inner, outer *net.IPNet) bool {
	return outer.Contains(inner.IP) && outer.Contains(lastOf(inner))
}

func lastOf(subnet *net.IPNet) net.IP {
	first, mask := subnet.IP, subnet.Mask
	if four := first.To4(); four != nil {
		first, mask = four, mask[len(mask)-net.IPv4len:]
	}
	last := make(net.IP, len(first))
	for i := range first {
		last[i] = first[i] | ^mask[i]
	}
	return last
}
