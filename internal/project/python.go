package project

import "strings"

// pytestOptions choose tests and what is shown. Those that load code or write (-p, -c, -o, --rootdir,
// --basetemp, --junitxml) are none of them.
const pytestOptions = "[-v|-vv|-q|-x|-s|-k *|-m *|-n *|-l|-r *|-rA|-ra|--maxfail *|--lf|--ff|--last-failed|--failed-first|--tb *|--durations *|--collect-only|--co|--no-header|--no-summary|-W *]"

func pythonCommands(t *tree, dir string) (list []Command) {
	if dir != "." {
		return nil // tests of other packages are named by their path in the root
	}
	pyproject := t.read(dir, "pyproject.toml")
	file, line := "", 0
	for _, name := range []string{"pytest.ini", "conftest.py"} {
		if t.has(dir, name) {
			file, line = name, 1
		}
	}
	for _, name := range append([]string{"tox.ini", "setup.cfg", "pyproject.toml"}, t.files(dir, "requirements*.txt")...) {
		if n := find(t.read(dir, name), "pytest"); n > 0 {
			file, line = name, n
		}
	}
	run := ""
	switch {
	case t.has(dir, "uv.lock"):
		run = "uv run "
	case t.has(dir, "poetry.lock"):
		run = "poetry run "
	case t.has(dir, "Pipfile.lock"):
		run = "pipenv run "
	}
	add := func(p Purpose, line, usage, source string) { list = append(list, Command{p, line, usage, source, ""}) }
	python := "{python,python3}"
	switch {
	case file != "":
		source := place(dir, file, line)
		add(Test, run+"pytest", run+"pytest "+pytestOptions+" **", source)
		if run == "" {
			add(Test, "python -m pytest", python+" -m pytest "+pytestOptions+" **", source)
		}
	case t.has("tests", "test_*.py") || t.has("test", "test_*.py"):
		add(Test, "python -m unittest", python+" -m unittest [-v|-q|-f|-k *] **", "tests")
	}
	if t.has(dir, "tox.ini") {
		add(Test, "tox", "tox [-q|-v|-e *]", place(dir, "tox.ini", 1))
	}
	if t.has(dir, "noxfile.py") {
		add(Test, "nox", "nox [-s *|-l|--list|-R]", place(dir, "noxfile.py", 1))
	}
	if n := find(pyproject, "[tool.mypy"); n > 0 {
		add(Lint, run+"mypy .", run+"mypy [--strict|--pretty|--show-error-codes|--no-error-summary] **", place(dir, "pyproject.toml", n))
	} else if t.has(dir, "mypy.ini") {
		add(Lint, run+"mypy .", run+"mypy [--strict|--pretty|--show-error-codes|--no-error-summary] **", place(dir, "mypy.ini", 1))
	}
	if n := find(pyproject, "[tool.ruff"); n > 0 && run != "" {
		add(Lint, run+"ruff check", run+"ruff check [-q|-v|--output-format *] **", place(dir, "pyproject.toml", n))
	}
	return list
}

func rubyCommands(t *tree, dir string) (list []Command) {
	text := t.read(dir, "Gemfile")
	if text == nil || dir != "." {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	gem := func(name string) int {
		for i, l := range lines {
			l = strings.TrimSpace(l)
			if strings.HasPrefix(l, "gem '"+name+"'") || strings.HasPrefix(l, `gem "`+name+`"`) {
				return i + 1
			}
		}
		return 0
	}
	if n := max(gem("rspec"), gem("rspec-rails")); n > 0 {
		list = append(list, Command{Test, "bundle exec rspec", "bundle exec rspec [-f *|--fail-fast|-e *|--tag *] **", place(dir, "Gemfile", n), ""})
	}
	if n := gem("rubocop"); n > 0 {
		list = append(list, Command{Lint, "bundle exec rubocop", "bundle exec rubocop [-f *|--format *] **", place(dir, "Gemfile", n), ""})
	}
	if t.has(dir, "Rakefile") {
		if n := find(t.read(dir, "Rakefile"), "test"); n > 0 {
			list = append(list, Command{Test, "bundle exec rake test", "bundle exec rake test", place(dir, "Rakefile", n), ""})
		}
	}
	return list
}
