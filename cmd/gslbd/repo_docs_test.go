package main_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// packageDocs wants one doc comment for each package outside its tests.
func packageDocs(all []source) (problems []string) {
	has := map[string]bool{}
	for _, s := range all {
		if !s.test {
			has[s.dir()] = has[s.dir()] || s.file.Doc.Text() != ""
		}
	}
	for dir, ok := range has {
		if !ok {
			problems = append(problems, fmt.Sprintf("%s: no package comment", dir))
		}
	}
	slices.Sort(problems)
	return problems
}

// undocumented finds exported names without a comment. A comment over a group
// of constants or variables is enough for the group.
func undocumented(s source) (problems []string) {
	if s.test || s.file.Name.Name == "main" {
		return nil
	}
	add := func(name *ast.Ident) {
		if name.IsExported() {
			problems = append(problems, fmt.Sprintf("%s: exported %s has no comment", s.at(name), name.Name))
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc.Text() == "" && receiverExported(d) {
				add(d.Name)
			}
		case *ast.GenDecl:
			if d.Doc.Text() != "" && d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if d.Doc.Text() == "" && spec.Doc.Text() == "" {
						add(spec.Name)
					}
				case *ast.ValueSpec:
					if spec.Doc.Text() == "" && spec.Comment.Text() == "" {
						for _, name := range spec.Names {
							add(name)
						}
					}
				}
			}
		}
	}
	return problems
}

// receiverExported reports whether a function can be named from outside:
// methods of unexported types only satisfy interfaces.
func receiverExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	name := strings.TrimLeft(funcName(f), "(*")
	return ast.IsExported(name)
}
