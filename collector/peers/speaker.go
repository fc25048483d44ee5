package peers

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// A round starts every two seconds and asks so many agents at a time.
const (
	roundEvery = 2 * time.Second
	askAtOnce  = 8
)

// Options are what an election needs to know.
type Options struct {
	// Self returns what this agent is now; whether it speaks is filled in by the election.
	Self func() Standing
	// Managers returns the other agents on managers, by node id: from the state, or those that the local engine knows. Workers
	// returns those on workers, of which one that follows a manager may speak where no manager has an agent.
	Managers, Workers func() []Agent
	// Client asks; see NewClient.
	Client *http.Client
	Now    func() time.Time
	Log    *logrus.Entry
}

// Speaker follows who speaks for the cluster.
type Speaker struct {
	options Options
	nudge   chan struct{}
	silent  time.Time // since when no agent on the leader answers; zero while one does

	mu      sync.Mutex // protects what follows
	speaks  bool
	addr    string
	changed chan struct{}
}

// NewSpeaker returns an election in which nobody speaks yet.
func NewSpeaker(options Options) *Speaker {
	return &Speaker{options: options, nudge: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Speaks tells whether this agent speaks for the cluster.
func (s *Speaker) Speaks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.speaks
}

// Addr returns host and port of the agent that speaks, empty where that is this one or is not known.
func (s *Speaker) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Standing returns what this agent is now, and whether it speaks. An agent without a fresh state never does, and who has been
// told so may rely on it: even if the state is fresh again a moment later, this agent speaks only after it has asked again.
func (s *Speaker) Standing() Standing {
	standing := s.options.Self()
	if !standing.Fresh {
		s.settle(false, s.Addr())
	}
	standing.Speaker = s.Speaks()
	return standing
}

// Changed returns a channel that is closed when this agent starts or ends speaking.
func (s *Speaker) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Nudge makes Run ask at once: after the source connected or broke.
func (s *Speaker) Nudge() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// Run asks the other agents round by round until ctx ends; then this agent speaks no more.
func (s *Speaker) Run(ctx context.Context) {
	defer s.settle(false, "")
	ticker := time.NewTicker(roundEvery)
	defer ticker.Stop()
	for {
		s.round(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.nudge:
		}
	}
}

// answer is what an agent said, and where.
type answer struct {
	Standing
	addr string
}

func (s *Speaker) round(ctx context.Context) {
	answers := s.askAll(ctx, s.options.Managers())
	self := s.Standing()
	if self.Fresh && !self.Manager && !slices.ContainsFunc(answers, func(a answer) bool { return a.Fresh }) {
		answers = append(answers, s.askBefore(ctx, self.Node, s.options.Workers())...)
	}
	if ctx.Err() != nil {
		return
	}
	// Asking took time: what this agent is may have changed meanwhile.
	self = s.Standing()
	speaks := decide(self, standings(answers), s.waited(answers))
	addr := ""
	if !speaks {
		addr = speakerAmong(answers)
	}
	s.settle(speaks, addr)
}

// waited is for how long no agent on the leader has answered with a fresh state.
func (s *Speaker) waited(answers []answer) time.Duration {
	if slices.ContainsFunc(answers, func(a answer) bool { return a.Fresh && a.Leader }) {
		s.silent = time.Time{}
		return 0
	}
	now := s.options.Now()
	if s.silent.IsZero() {
		s.silent = now
	}
	return now.Sub(s.silent)
}

func (s *Speaker) settle(speaks bool, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addr = addr
	if s.speaks != speaks {
		s.speaks = speaks
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// askAll asks agents side by side and returns who answered.
func (s *Speaker) askAll(ctx context.Context, agents []Agent) []answer {
	answers := make([]*answer, len(agents))
	slots := make(chan struct{}, askAtOnce)
	var wg sync.WaitGroup
	for i, agent := range agents {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			answers[i] = s.ask(ctx, agent)
		})
	}
	wg.Wait()
	var given []answer
	for _, a := range answers {
		if a != nil {
			given = append(given, *a)
		}
	}
	return given
}

// askBefore asks the agents with a lower node id than this one, the lowest first, until a few answer with a fresh state:
// on workers any of hundreds may be one that is pointed at a manager, and one is enough to be silent.
func (s *Speaker) askBefore(ctx context.Context, self string, agents []Agent) []answer {
	for batch := range slices.Chunk(agents, askAtOnce) {
		batch = slices.DeleteFunc(slices.Clone(batch), func(a Agent) bool { return a.Node >= self })
		answers := s.askAll(ctx, batch)
		if slices.ContainsFunc(answers, func(a answer) bool { return a.Fresh }) {
			return answers
		}
	}
	return nil
}

// ask returns what an agent says of itself, or nil where none answers there but this one.
func (s *Speaker) ask(ctx context.Context, agent Agent) *answer {
	standing, err := Ask(ctx, s.options.Client, agent.Addr)
	if err != nil {
		s.options.Log.WithError(err).WithField("node.id", agent.Node).Debug("agent does not answer")
		return nil
	}
	if standing.Node == "" || standing.Node == s.options.Self().Node {
		return nil
	}
	return &answer{Standing: standing, addr: agent.Addr}
}

func standings(answers []answer) []Standing {
	all := make([]Standing, 0, len(answers))
	for _, a := range answers {
		all = append(all, a.Standing)
	}
	return all
}

// speakerAmong returns where the first of those who speak answers, empty where none does.
func speakerAmong(answers []answer) string {
	speaking := slices.DeleteFunc(slices.Clone(answers), func(a answer) bool { return !a.Speaker })
	if len(speaking) == 0 {
		return ""
	}
	return slices.MinFunc(speaking, func(a, b answer) int { return compare(a.Standing, b.Standing) }).addr
}
