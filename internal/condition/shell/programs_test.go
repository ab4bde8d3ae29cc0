package shell

import (
	"slices"
	"strings"
	"testing"
)

// Rows are sorted and unique, and say something.
func TestProgramsAreSorted(t *testing.T) {
	last := ""
	for _, p := range rows() {
		if last >= p.name {
			t.Errorf("%q follows %q", p.name, last)
		}
		last = p.name
		if programOf(p.name) != p || p.traits == 0 && p.code+p.letters+p.after == "" && p.delimiter == 0 && p.wrapper == nil && p.texts == nil && p.sweep == 0 && p.lists == nil {
			t.Errorf("%q is not found, or has no facts", p.name)
		}
	}
}

// rows are those of all tables.
func rows() (all []*program) {
	for _, table := range tables() {
		for i := range table {
			all = append(all, &table[i])
		}
	}
	return all
}

// Every fact of every row changes how a line with the program is read.
func TestPrograms(t *testing.T) {
	for _, p := range rows() {
		t.Run(p.name, func(t *testing.T) {
			if line, option, ok := strings.Cut(p.name, "-"); ok && (line == "git" || line == "gh") {
				words := 1
				if line == "gh" {
					words = 2
				}
				testSubcommand(t, p, strings.Replace(p.name, "-", " ", words), option)
				return
			}
			for option := range strings.FieldsSeq(p.code) {
				testCode(t, p.name, option)
			}
			for _, letter := range p.letters {
				if l := reads(p.name + " -" + string(letter) + " code"); l.Plain && l.Commands[0].Plain {
					t.Errorf("-%c takes code, and the line is plain", letter)
				}
			}
			for after := range strings.FieldsSeq(p.after) {
				if after == anywhere {
					after = "x"
				}
				if !runs(p.name + " " + after + " 'rm x'") {
					t.Errorf("nothing is suspected after %q", after)
				}
			}
			if p.delimiter != 0 && named(p.name+" -"+string(p.delimiter)+"/ f", "/") != 0 {
				t.Errorf("the delimiter of -%c is a directory", p.delimiter)
			}
			if p.wrapper != nil {
				testWrapper(t, p)
			}
			if line, ok := sweeps[p.sweep]; ok {
				option := ""
				if p.deep != nil {
					option = " -" + p.deep[0].letters[:1]
				}
				if !swept(strings.ReplaceAll(strings.Replace(line, "NAME", p.name+option, 1), "NAME", p.name)) {
					t.Errorf("nothing is swept: kind %d", p.sweep)
				}
			}
			for i := range p.lists {
				testLists(t, p.name, &p.lists[i])
			}
			for fact, check := range facts {
				if p.traits&fact != 0 && !check(p.name) {
					t.Errorf("the trait %b has no effect", fact)
				}
			}
		})
	}
}

// facts are what a trait does to a line with the program. Traits that are only asked together with
// others are tested where they are used.
var facts = map[trait]func(name string) bool{
	readers:   func(name string) bool { u := named(name+" p d/f", "d/f"); return u == 0 || u&Writes == 0 },
	pathless:  func(name string) bool { return named(name+" d/f", "d/f") == 0 },
	scripted:  func(name string) bool { return named(name+" p", "p") == 0 && named(name+" p d/f", "d/f") != 0 },
	placers:   func(name string) bool { return named(name+" a/f d", "d/f")&Writes != 0 },
	copiers:   func(name string) bool { return named(name+" d/f d/g", "d/f")&^Suspected == Reads },
	uploaders: func(name string) bool { return named(name+" x=@d/f", "d/f") != 0 },
	shells:    func(name string) bool { return runs(name + " -c 'rm x'") },
	loose: func(name string) bool {
		l := reads(name + " 'rm x'")
		return !l.Commands[0].Plain && runs(name+" 'rm x'")
	},
	environment: func(name string) bool { return !reads(name + " x").Commands[0].Plain },
	evaluating: func(name string) bool {
		return runs(name+" 'a[$(rm x)]'") || reads(name + " 'a[$(rm x)]'").Commands[0].Runs
	},
	tails:     func(name string) bool { return runs(name + " -x rm x") },
	archivers: func(name string) bool { return runs(name + " xfI a 'rm x'") },
	movers:    func(name string) bool { l := reads(name + " d && ls"); return l.Commands[len(l.Commands)-1].Moved },
	gnu:       func(name string) bool { return string(familiar([]byte("g"+name))) == name },
	directoryLetters: func(name string) bool {
		return directoryOption(name, []Word{{Text: []byte(name)}, {Text: []byte("-C")}, {Text: []byte("d")}}, 1) == "d"
	},
	spreading:    func(name string) bool { l := reads(name + " d/*.go"); return l.Plain },
	metadataOnly: func(name string) bool { return !swept("find . -name a | xargs -I@ "+name+" -- @") || listing.has(name) },
	onlyNames:    func(name string) bool { return named(name+" d/f", "d/f")&^Suspected&Named != 0 },
	settled:      func(name string) bool { l := reads("cd d && " + name); return l.Settled(0) || len(l.Commands) > 2 },
	linkless: func(name string) bool {
		l := reads("mkdir d && " + name + " && cat d/../f")
		return !l.Plain || l.Solid()
	},
	documented: func(name string) bool { return reads(name + " <<'E'\ntext\nE\n").Plain },
}

// sweeps are lines in which a program of a kind takes files that are not named.
var sweeps = map[sweepKind]string{
	sweepSearch: "NAME p d", sweepCode: "NAME p d", sweepFind: "NAME d -exec cat {} ';'", sweepListed: "NAME cat", sweepGit: "NAME grep p",
	sweepArchive: "NAME -cf x d", sweepOperands: "NAME x d", sweepCopy: "NAME d e", sweepRename: "NAME d e", sweepLink: "NAME d e",
	sweepTransfer: "NAME d host:e", sweepDiff: "NAME d e", sweepAnywhere: "NAME -o",
}

// testLists tests that every option with which a program takes names from a list is seen.
func testLists(t *testing.T, name string, o *options) {
	var words []string
	for _, letter := range o.letters {
		words = append(words, "-c"+string(letter))
	}
	for _, long := range o.long {
		words = append(words, "-c --"+long+"=f")
	}
	for _, whole := range o.whole {
		words = append(words, whole)
	}
	if o.at {
		words = append(words, "@f")
	}
	if len(words) == 0 {
		t.Error("there is no option")
	}
	for _, word := range words {
		anywhere := false
		reads(name + " " + word).Sweeps(func(s *Sweep) bool { anywhere = anywhere || s.Anywhere; return true })
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
	if !slices.ContainsFunc(l.Commands, func(c Command) bool { return c.Runs }) && !runs(line) {
		t.Errorf("%q runs code, and nothing is suspected", line)
	}
}

// testSubcommand tests the row of a subcommand of git or gh.
func testSubcommand(t *testing.T, p *program, line, name string) {
	for option := range strings.FieldsSeq(p.code) {
		testCode(t, "git "+name, option)
	}
	if p.texts == nil {
		return
	}
	for _, option := range p.texts.names {
		if named(line+" x "+option+" 'd/f'", "d/f") != 0 {
			t.Errorf("the text of %s is a path", option)
		}
	}
}

// testWrapper tests that the command after every option of a wrapper is found.
func testWrapper(t *testing.T, p *program) {
	operands := strings.Repeat(" 1", p.wrapper.operands)
	if !runs(p.name + operands + " rm x") {
		t.Error("its command is not found")
	}
	for option := range strings.FieldsSeq(p.wrapper.options) {
		word := " " + strings.TrimRight(option, ":!")
		switch {
		case strings.HasSuffix(option, "!"), p.wrapper.lineFlag && (option == "-S:" || option == "--split-string:"):
			continue
		case strings.HasSuffix(option, ":"):
			word += " 1"
		}
		if !runs(p.name + word + operands + " rm x") {
			t.Errorf("its command is not found after%s", word)
		}
	}
}

func reads(text string) *Line {
	l := new(Line)
	l.Read([]byte(text))
	return l
}

// runs reports whether rm is among the commands of a line.
func runs(text string) bool {
	return slices.ContainsFunc(reads(text).Commands, func(c Command) bool { return string(c.Program()) == "rm" })
}

// named returns what the first command of a line does with a path, 0 if it does not name it.
func named(text, path string) (use Use) {
	reads(text).Commands[0].Paths(func(w *Word, u Use, _ bool) bool {
		if string(w.Text) == path {
			use |= u
		}
		return true
	})
	return use
}

// swept reports whether a line reads files without naming them.
func swept(text string) (found bool) {
	reads(text).Sweeps(func(*Sweep) bool { found = true; return false })
	return found
}
