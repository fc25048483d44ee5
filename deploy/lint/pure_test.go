package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asking are the functions, of packages that the analyzer may import, that ask the machine: for the time, or the network.
var asking = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"net":  {"Dial", "DialTimeout", "Listen", "ListenPacket", "LookupHost", "LookupIP", "LookupAddr", "Interfaces", "InterfaceAddrs"},
}

// The same state and the same time must give the same diagnoses, today and in a replay.
func TestTheAnalyzerAsksNothingButItsArguments(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("../../analyzer", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasSuffix(filepath.Dir(path), "test") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, call := range callsThatAsk(t, path, source) {
			t.Errorf("%s: what the analyzer needs comes as an argument", call)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("read %d files: %v", files, err)
	}
}

func TestCallsThatAskAreFound(t *testing.T) {
	t.Parallel()
	const source = "package a\n\nvar x = time.Now()\nvar y = time.Second\nvar z = net.ParseIP(\"::1\")\nvar c, err = net.Dial(x)\n"
	want := []string{"a.go:3:9: time.Now", "a.go:6:14: net.Dial"}
	if diff := cmp.Diff(want, callsThatAsk(t, "a.go", []byte(source))); diff != "" {
		t.Error(diff)
	}
}

func callsThatAsk(t *testing.T, path string, source []byte) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if from, ok := selector.X.(*ast.Ident); ok && slices.Contains(asking[from.Name], selector.Sel.Name) {
				calls = append(calls, set.Position(selector.Pos()).String()+": "+from.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return calls
}
