package main

import (
	"fmt"
	"io"

	"vbng/cmd/model"
)

// reference prints a page of the reference manual, in Markdown.
func reference(page string, out, errs io.Writer) int {
	for _, p := range model.Pages() {
		if p.Name != page {
			continue
		}
		text, err := p.Text()
		if err != nil {
			fmt.Fprintf(errs, "vbng: %v\n", err)
			return failure
		}
		fmt.Fprint(out, text)
		return success
	}
	fmt.Fprintln(errs, "usage: vbng reference PAGE; the pages are:")
	for _, p := range model.Pages() {
		fmt.Fprintf(errs, "  %-14s %s\n", p.Name, p.Help)
	}
	return misuse
}
