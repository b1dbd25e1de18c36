//go:build !unix

package cli

import (
	"context"
	"io"
)

// unread cannot tell here; the next write will.
func unread(context.Context, io.Writer) (gone bool) { return false }
