package embedded

import (
	"errors"
	"testing"

	"github.com/sirupsen/logrus"
)

func TestOnlyExpectedErrorsAreDropped(t *testing.T) {
	t.Parallel()
	format := withoutExpected{&logrus.TextFormatter{}}
	for _, c := range []struct {
		name    string
		fields  logrus.Fields
		dropped bool
	}{
		{"the dispatcher's refusal", logrus.Fields{"error": errors.New("rpc error: code = Aborted desc = dispatcher is stopped")}, true},
		{"an end of our own", logrus.Fields{"error": errors.New("rpc error: code = Canceled desc = context canceled")}, true},
		{"another error", logrus.Fields{"error": errors.New("no space left on device")}, false},
		{"no error", nil, false},
	} {
		line, err := format.Format(logrus.WithFields(c.fields))
		if err != nil {
			t.Fatal(err)
		}
		if dropped := len(line) == 0; dropped != c.dropped {
			t.Errorf("%s: dropped %v, want %v", c.name, dropped, c.dropped)
		}
	}
}
