package main

import (
	"fmt"
	"io"
	"os"

	"vbng/cli/check"
	"vbng/cmd/model"
)

// checkFile checks a configuration file.
func checkFile(file string, out, errs io.Writer) int {
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintf(errs, "vbng: %v\n", err)
		return failure
	}
	all, err := check.Of(model.Subsystems())
	if err != nil {
		fmt.Fprintf(errs, "vbng: %v\n", err)
		return failure
	}
	if check.Report(errs, file, check.Text(all, string(text))) > 0 {
		return failure
	}
	fmt.Fprintf(out, "%s: good\n", file)
	return success
}
