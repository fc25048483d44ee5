package remedy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetsThatFreeANodeAreAsSmallAsCanBe(t *testing.T) {
	t.Parallel()
	holds := func(name string, frees ...int64) holding {
		return holding{service: service(name, 1), tasks: 1, frees: frees}
	}
	for _, test := range []struct {
		name     string
		lacks    []int64
		holdings []holding
		largest  int
		want     []string
	}{
		{"one that does it is in no larger set", []int64{5}, []holding{holds("a", 6), holds("b", 4), holds("c", 1)}, 3, []string{"a", "b c"}},
		{"nor is it after one that does not", []int64{3, 1}, []holding{holds("a", 6, 0), holds("p", 3, 1)}, 3, []string{"p"}},
		{"two that do it are not in a set of three", []int64{4, 1}, []holding{holds("a", 3, 0), holds("b", 2, 0), holds("p", 2, 1)}, 3, []string{"a p", "b p"}},
		{"three do it where two do not", []int64{9}, []holding{holds("a", 3), holds("b", 3), holds("c", 3)}, 3, []string{"a b c"}},
		{"no set is larger than the bound", []int64{9}, []holding{holds("a", 9), holds("b", 8), holds("c", 8)}, 1, []string{"a"}},
		{"where all do not nothing does", []int64{9}, []holding{holds("a", 4), holds("b", 4)}, 3, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := finder{lacks: test.lacks, holdings: test.holdings, largest: test.largest}
			f.find(nil, 0)
			var got []string
			for _, set := range f.found {
				var names []string
				for _, h := range set.holdings {
					names = append(names, h.service.Spec.Annotations.Name)
				}
				got = append(got, strings.Join(names, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("sets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyServicesOnANodeAreWeighedInBoundedTime(t *testing.T) {
	t.Parallel()
	f := finder{lacks: []int64{3}, largest: largestSet}
	for i := range 500 {
		f.holdings = append(f.holdings, holding{service: service(fmt.Sprint(i), 1), tasks: 1, frees: []int64{1}})
	}
	f.find(nil, 0)
	if most := 500 * wideServices * wideServices; len(f.found) > most || len(f.found) == 0 {
		t.Errorf("%d sets of 500 services: want some, and %d at most", len(f.found), most)
	}
}
