package programs

// GNU is the trait of programs with the prefix g.
const GNU = gnu

// Trait is a set of facts, for tables of tests.
type Trait = trait

// SweepKind is the type of [Row.Sweep].
type SweepKind = sweepKind

// Rows returns the rows of all tables.
func Rows() (all []*Row) {
	for _, table := range tables() {
		for i := range table {
			all = append(all, &table[i])
		}
	}
	return all
}

// Name returns the name of the program.
func (p *Row) Name() string { return p.name }

// Traits returns its traits.
func (p *Row) Traits() Trait { return p.traits }

// Words returns the options of a wrapper as they are in its row.
func (w *Wrapper) Words() string { return w.options }
