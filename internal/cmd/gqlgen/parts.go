package main

import (
	"path/filepath"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

// parts splits the generated code by the files of the schema that define it.
func parts(all *codegen.Data) map[string]*codegen.Data {
	parts := map[string]*codegen.Data{}
	of := func(p *ast.Position) *codegen.Data {
		name := filepath.Base(p.Src.Name)
		if parts[name] == nil {
			cfg := *all.Config
			cfg.Sources = []*ast.Source{p.Src}
			parts[name] = &codegen.Data{
				Config: &cfg, QueryRoot: all.QueryRoot, MutationRoot: all.MutationRoot, SubscriptionRoot: all.SubscriptionRoot,
				AllDirectives: all.AllDirectives,
				Interfaces:    map[string]*codegen.Interface{}, ReferencedTypes: map[string]*config.TypeReference{},
			}
		}
		return parts[name]
	}
	for _, object := range all.Objects {
		part := of(object.Position)
		part.Objects = append(part.Objects, object)
	}
	for _, input := range all.Inputs {
		part := of(input.Position)
		part.Inputs = append(part.Inputs, input)
	}
	for name, abstract := range all.Interfaces {
		of(abstract.Position).Interfaces[name] = abstract
	}
	for name, reference := range all.ReferencedTypes {
		of(reference.Definition.Position).ReferencedTypes[name] = reference
	}
	return parts
}
