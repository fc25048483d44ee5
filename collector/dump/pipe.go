package dump

import (
	"context"
	"io/fs"
	"os"
	"syscall"
)

// open opens a file for reading. A named pipe opens when somebody writes to it: it is waited for until ctx ends.
func open(ctx context.Context, name string) (*os.File, error) {
	if about, err := os.Stat(name); err != nil || about.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	woken := make(chan *os.File, 1)
	stop := context.AfterFunc(ctx, func() {
		writer, err := os.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0) // the writer that is waited for
		if err != nil {
			writer = nil
		}
		woken <- writer
	})
	file, err := os.Open(name)
	if !stop() {
		if writer := <-woken; writer != nil {
			_ = writer.Close()
		}
	}
	return file, err
}
