package embedded

import (
	"context"
	"strings"

	"github.com/sirupsen/logrus"
)

// expected reports whether swarmkit logs err, at error level, where nothing is wrong: the manager's own agent asks for a session
// before the leader's dispatcher runs, is refused and tries again, and loses its session when the dispatcher stops (agent,
// Agent.run; manager/dispatcher, Dispatcher.Session); what a node has under way is cancelled when it is stopped.
func expected(err error) bool {
	text := err.Error() // both come through gRPC, which keeps nothing but the text
	return strings.Contains(text, "dispatcher is stopped") || strings.Contains(text, context.Canceled.Error())
}

// withoutExpected formats entries, those of an expected error to nothing.
type withoutExpected struct{ logrus.Formatter }

// Format implements logrus.Formatter.
func (f withoutExpected) Format(entry *logrus.Entry) ([]byte, error) {
	if err, ok := entry.Data[logrus.ErrorKey].(error); ok && expected(err) {
		return nil, nil
	}
	return f.Formatter.Format(entry)
}

// dropExpectedErrors keeps expected errors out of logrus's standard logger, which swarmkit logs to, until restore is called.
func dropExpectedErrors() (restore func()) {
	before := logrus.StandardLogger().Formatter
	logrus.SetFormatter(withoutExpected{before})
	return func() { logrus.SetFormatter(before) }
}
