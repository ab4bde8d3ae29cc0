package knowntools

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
)

// All returns the products in the order of their names.
func All() []*Product {
	list := make([]*Product, 0, len(Products()))
	for _, name := range Products() {
		list = append(list, Load(name))
	}
	return list
}

// ByName returns the rows of every product that have the name, in the order of the
// products. It is for callers that know only the name of the tool. Only those rows are parsed.
func ByName(name string) (rows []*Tool) {
	for _, p := range productsOf()[name] {
		if t := row(p, name); t != nil {
			rows = append(rows, t)
		}
	}
	return rows
}

// productsOf returns the products with a row of each name, in their order. It reads only the first lines of
// the rows.
var productsOf = sync.OnceValue(func() map[string][]string {
	of := make(map[string][]string)
	for _, p := range Products() {
		for _, block := range bytes.Split(Text(p), rowHeader)[1:] {
			names, _, _ := bytes.Cut(block, []byte("\n"))
			for i, part := range bytes.Split(names, []byte(`"`)) {
				if i%2 == 1 { // in quotes; names have none
					of[string(part)] = append(of[string(part)], p)
				}
			}
		}
	}
	return of
})

// Host is the built-in tools of a host. The nil Host has none.
type Host struct{ products []string }

// ForHost returns the tools of a host, nil if no product of that name lists it as a host. A
// row is parsed when it is needed.
func ForHost(name string) *Host {
	if !slices.Contains(Products(), name) || !slices.Contains(head(name).Hosts, name) {
		return nil
	}
	h := new(Host)
	h.include(name)
	return h
}

func (h *Host) include(name string) {
	if slices.Contains(h.products, name) {
		return
	}
	h.products = append(h.products, name)
	for _, more := range head(name).Includes {
		h.include(more)
	}
}

// Tool returns the row of a tool of the host, nil if there is none.
func (h *Host) Tool(name string) *Tool {
	if h == nil {
		return nil
	}
	for _, p := range h.products {
		if t := row(p, name); t != nil {
			return t
		}
	}
	return nil
}

// Tools returns the rows of the host. Of rows with the same name the first counts.
func (h *Host) Tools() (list []*Tool) {
	if h == nil {
		return nil
	}
	for _, p := range h.products {
		list = append(list, Load(p).Tools...)
	}
	return list
}

// ForServer returns the row of a tool of an MCP server, by the server's name and the tool's
// own, nil if there is none. The caller must check by the pinned definition of the tool that
// the server is the one that the row was read from.
func ForServer(server, tool string) *Tool {
	for _, t := range ByName(tool) {
		if slices.Contains(t.Product.Servers, server) {
			return t
		}
	}
	return nil
}

// Varying returns the parameters of a tool whose values a grant may leave open, by the name of the tool and
// of its server, "" for none: all rows of the name that have the parameter agree. known is another name under which
// the server is listed, as an operator's file says, or "". A value of another
// meaning in it, such as a path, is not left open.
func Varying(tool, server, known string) (names []string) {
	var rows []*Tool
	if server == "" {
		rows = ByName(tool)
	} else if t := ForServer(cmp.Or(known, server), strings.TrimPrefix(tool, server+"__")); t != nil {
		rows = []*Tool{t}
	}
	for _, row := range rows {
		for _, name := range row.Varies {
			if !slices.Contains(names, name) && !slices.ContainsFunc(rows, func(other *Tool) bool {
				return slices.ContainsFunc(other.Parameters, func(p Parameter) bool { return p.Name == name }) && !slices.Contains(other.Varies, name)
			}) {
				names = append(names, name)
			}
		}
	}
	return names
}
