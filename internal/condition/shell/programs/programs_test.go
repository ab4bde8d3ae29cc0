package programs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/effect"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Rows are sorted and unique, and say something.
func TestProgramsAreSorted(t *testing.T) {
	last := ""
	for _, p := range programs.Rows() {
		if last >= p.Name() {
			t.Errorf("%q follows %q", p.Name(), last)
		}
		last = p.Name()
		if programs.Of(p.Name()) != p || p.Traits() == 0 && p.Code+p.Letters+p.After == "" && p.Delimiter == 0 && p.Wrapper == nil && p.Texts == nil && p.Sweep == 0 && p.Lists == nil {
			t.Errorf("%q is not found, or has no facts", p.Name())
		}
	}
}

// Every fact of every row changes how a line with the program is read.
func TestPrograms(t *testing.T) {
	for _, p := range programs.Rows() {
		t.Run(p.Name(), func(t *testing.T) {
			if line, option, ok := strings.Cut(p.Name(), "-"); ok && (line == "git" || line == "gh") {
				words := 1
				if line == "gh" {
					words = 2
				}
				testSubcommand(t, p, strings.Replace(p.Name(), "-", " ", words), option)
				return
			}
			for option := range strings.FieldsSeq(p.Code) {
				testCode(t, p.Name(), option)
			}
			for _, letter := range p.Letters {
				if l := reads(p.Name() + " -" + string(letter) + " code"); l.Plain && l.Commands[0].Plain {
					t.Errorf("-%c takes code, and the line is plain", letter)
				}
			}
			for after := range strings.FieldsSeq(p.After) {
				if after == programs.Anywhere {
					after = "x"
				}
				if !runs(p.Name() + " " + after + " 'rm x'") {
					t.Errorf("nothing is suspected after %q", after)
				}
			}
			if p.Delimiter != 0 && named(p.Name()+" -"+string(p.Delimiter)+"/ f", "/") != 0 {
				t.Errorf("the delimiter of -%c is a directory", p.Delimiter)
			}
			if p.Wrapper != nil {
				testWrapper(t, p)
			}
			if line, ok := sweeps[p.Sweep]; ok {
				option := ""
				if p.Deep != nil {
					option = " -" + p.Deep[0].Letters[:1]
				}
				if !swept(strings.ReplaceAll(strings.Replace(line, "NAME", p.Name()+option, 1), "NAME", p.Name())) {
					t.Errorf("nothing is swept: kind %d", p.Sweep)
				}
			}
			for i := range p.Lists {
				testLists(t, p.Name(), &p.Lists[i])
			}
			for fact, check := range facts {
				if p.Traits()&fact != 0 && !check(p.Name()) {
					t.Errorf("the trait %b has no effect", fact)
				}
			}
		})
	}
}

// facts are what a trait does to a line with the program. Traits that are only asked together with
// others are tested where they are used.
var facts = map[programs.Trait]func(name string) bool{
	programs.Readers:   func(name string) bool { u := named(name+" p d/f", "d/f"); return u == 0 || u&effect.Writes == 0 },
	programs.Pathless:  func(name string) bool { return named(name+" d/f", "d/f") == 0 },
	programs.Scripted:  func(name string) bool { return named(name+" p", "p") == 0 && named(name+" p d/f", "d/f") != 0 },
	programs.Placers:   func(name string) bool { return named(name+" a/f d", "d/f")&effect.Writes != 0 },
	programs.Copiers:   func(name string) bool { return named(name+" d/f d/g", "d/f")&^effect.Suspected == effect.Reads },
	programs.Uploaders: func(name string) bool { return named(name+" x=@d/f", "d/f") != 0 },
	programs.Shells:    func(name string) bool { return runs(name + " -c 'rm x'") },
	programs.Loose: func(name string) bool {
		l := reads(name + " 'rm x'")
		return !l.Commands[0].Plain && runs(name+" 'rm x'")
	},
	programs.Environment: func(name string) bool { return !reads(name + " x").Commands[0].Plain },
	programs.Evaluating: func(name string) bool {
		return runs(name+" 'a[$(rm x)]'") || reads(name + " 'a[$(rm x)]'").Commands[0].Runs
	},
	programs.Tails:     func(name string) bool { return runs(name + " -x rm x") },
	programs.Archivers: func(name string) bool { return runs(name + " xfI a 'rm x'") },
	programs.Movers:    func(name string) bool { l := reads(name + " d && ls"); return l.Commands[len(l.Commands)-1].Moved },
	programs.GNU:       func(name string) bool { return string(programs.Familiar([]byte("g"+name))) == name },
	programs.DirectoryLetters: func(name string) bool {
		return slices.Contains(reads(name + " -C d").Commands[0].Dirs, "d")
	},
	programs.Spreading: func(name string) bool { l := reads(name + " d/*.go"); return l.Plain },
	programs.MetadataOnly: func(name string) bool {
		return !swept("find . -name a | xargs -I@ "+name+" -- @") || programs.Listing.Has(name)
	},
	programs.OnlyNames: func(name string) bool {
		line := name + " d/f"
		if name == "[[" {
			line += " ]]"
		}
		return named(line, "d/f")&^effect.Suspected&effect.Named != 0
	},
	programs.Settled: func(name string) bool {
		l := reads("cd d && " + name)
		return effect.Settled(l, 0) || len(l.Commands) > 2
	},
	programs.Linkless: func(name string) bool {
		l := reads("mkdir d && " + name + " && cat d/../f")
		return !l.Plain || effect.Solid(l)
	},
	programs.Documented: func(name string) bool { return reads(name + " <<'E'\ntext\nE\n").Plain },
}

// sweeps are lines in which a program of a kind takes files that are not named.
var sweeps = map[programs.SweepKind]string{
	programs.SweepSearch: "NAME p d", programs.SweepCode: "NAME p d", programs.SweepFind: "NAME d -exec cat {} ';'", programs.SweepListed: "NAME cat", programs.SweepGit: "NAME grep p",
	programs.SweepArchive: "NAME -cf x d", programs.SweepOperands: "NAME x d", programs.SweepCopy: "NAME d e", programs.SweepRename: "NAME d e", programs.SweepLink: "NAME d e",
	programs.SweepTransfer: "NAME d host:e", programs.SweepDiff: "NAME d e", programs.SweepAnywhere: "NAME -o",
}

// testLists tests that every option with which a program takes names from a list is seen.
func testLists(t *testing.T, name string, o *programs.Options) {
	var words []string
	for _, letter := range o.Letters {
		words = append(words, "-c"+string(letter))
	}
	for _, long := range o.Long {
		words = append(words, "-c --"+long+"=f")
	}
	for _, whole := range o.Whole {
		words = append(words, whole)
	}
	if o.At {
		words = append(words, "@f")
	}
	if len(words) == 0 {
		t.Error("there is no option")
	}
	for _, word := range words {
		anywhere := false
		effect.Sweeps(reads(name+" "+word), func(s *effect.Sweep) bool { anywhere = anywhere || s.Anywhere; return true })
		if !anywhere {
			t.Errorf("%s takes names from a list, and they are not everywhere", word)
		}
	}
}

func testCode(t *testing.T, name, option string) {
	line := name + " " + option + " 'rm x'"
	switch {
	case option == "+":
		line = name + " '+rm x'"
	case strings.HasSuffix(option, "="):
		line = name + " '" + option + "rm x'"
	}
	l := reads(line)
	if !slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return c.Runs }) && !runs(line) {
		t.Errorf("%q runs code, and nothing is suspected", line)
	}
}

// testSubcommand tests the row of a subcommand of git or gh.
func testSubcommand(t *testing.T, p *programs.Row, line, name string) {
	for option := range strings.FieldsSeq(p.Code) {
		testCode(t, "git "+name, option)
	}
	if p.Texts == nil {
		return
	}
	for _, option := range p.Texts.Names {
		if named(line+" x "+option+" 'd/f'", "d/f") != 0 {
			t.Errorf("the text of %s is a path", option)
		}
	}
}

// testWrapper tests that the command after every option of a wrapper is found.
func testWrapper(t *testing.T, p *programs.Row) {
	operands := strings.Repeat(" 1", p.Wrapper.Operands)
	if !runs(p.Name() + operands + " rm x") {
		t.Error("its command is not found")
	}
	for option := range strings.FieldsSeq(p.Wrapper.Words()) {
		word := " " + strings.TrimRight(option, ":!")
		switch {
		case strings.HasSuffix(option, "!"), p.Wrapper.LineFlag && (option == "-S:" || option == "--split-string:"):
			continue
		case strings.HasSuffix(option, ":"):
			word += " 1"
		}
		if !runs(p.Name() + word + operands + " rm x") {
			t.Errorf("its command is not found after%s", word)
		}
	}
}

func reads(text string) *shell.Line {
	l := new(shell.Line)
	l.Read([]byte(text))
	return l
}

// runs reports whether rm is among the commands of a line.
func runs(text string) bool {
	return slices.ContainsFunc(reads(text).Commands, func(c shell.Command) bool { return string(c.Program()) == "rm" })
}

// named returns what the first command of a line does with a path, 0 if it does not name it.
func named(text, path string) (use effect.Use) {
	effect.Paths(&reads(text).Commands[0], func(w *shell.Word, u effect.Use, _ bool) bool {
		if string(w.Text) == path {
			use |= u
		}
		return true
	})
	return use
}

// swept reports whether a line reads files without naming them.
func swept(text string) (found bool) {
	effect.Sweeps(reads(text), func(*effect.Sweep) bool { found = true; return false })
	return found
}
