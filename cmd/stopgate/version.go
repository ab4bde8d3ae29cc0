package main

import (
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/release"
)

func printVersion(w io.Writer) { fmt.Fprintln(w, release.Line("stopgate")) }
