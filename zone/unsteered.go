package zone

import "fmt"

// plainSet is an RRset of several records that says nothing about steering.
type plainSet struct {
	set  int32 // index into Zone.RRsets
	line int32
	file uint16 // index into Zone.Files
}

// Unsteered reports RRsets that are groups now and would be plain: `before`
// names the groups that are served, `after` holds the zones to be loaded. Such
// an RRset keeps two or more records, none of them annotated, as happens when
// a tool strips comments; @static on every record says that it is meant.
func Unsteered(before []Key, after []*Zone) Problems {
	was := make(map[Key]bool, len(before))
	for _, k := range before {
		was[k] = true
	}
	var ps Problems
	for _, z := range after {
		for _, p := range z.plain {
			s := &z.RRsets[p.set]
			k := Key{Zone: z.Name, Name: s.Name, Type: s.Type}
			if !was[k] {
				continue
			}
			ps = append(ps, Problem{
				File: z.Files[p.file], Line: int(p.line), Severity: Error,
				Message: fmt.Sprintf("%s was steered and now has %d records without annotation", k, len(s.RRs)),
				Hint:    "did a tool strip the comments? restore them, write ; @static on each record, or reload with --accept-unsteered",
			})
		}
	}
	return ps
}
