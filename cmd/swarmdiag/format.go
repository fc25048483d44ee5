package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/docker/cli/cli/streams"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// formats are the values of --format.
var formats = []string{"table", "wide", "json", "yaml"}

// format is the value of --format.
type format string

func (f *format) install(cmd *cobra.Command) {
	*f = "table"
	cmd.Flags().Var(f, "format", "output format: "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *format) Set(value string) error {
	if !slices.Contains(formats, value) {
		return fmt.Errorf("it is one of %s", strings.Join(formats, ", "))
	}
	*f = format(value)
	return nil
}

// write writes a value as JSON or YAML, or leaves it to the tables.
func (f *format) write(out io.Writer, value any, table func(wide bool) error) error {
	switch *f {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	case "yaml":
		text, err := yaml.Marshal(value)
		if err != nil {
			return fmt.Errorf("write YAML: %w", err)
		}
		_, err = out.Write(text)
		return err
	}
	return table(*f == "wide")
}

// colored tells whether tables may be in colour: on a terminal, unless NO_COLOR is set.
func colored(out *streams.Out) bool { return out.IsTerminal() && os.Getenv("NO_COLOR") == "" }
