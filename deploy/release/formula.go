package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const formulaHead = `class Stopgate < Formula
  desc "Decide whether an AI agent's tool calls may run"
  homepage "https://github.com/stopgate/stopgate"
  version "%s"
  license "Apache-2.0"
`

const formulaTail = `
  def install
    bin.install "stopgate", "stopgate-hook"
    man1.install Dir["man/man1/*.1"]
    man5.install Dir["man/man5/*.5"]
    bash_completion.install "completions/stopgate.bash" => "stopgate"
    zsh_completion.install "completions/_stopgate"
    fish_completion.install "completions/stopgate.fish"
    pkgshare.install "LICENSE", "THIRD-PARTY-NOTICES"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/stopgate version")
  end
end
`

// formula writes the formula of Homebrew, which installs the archives.
func formula(r *release) error {
	var out strings.Builder
	fmt.Fprintf(&out, formulaHead, strings.TrimPrefix(r.version.described, "v"))
	for _, os := range []struct{ go_, brew string }{{"darwin", "macos"}, {"linux", "linux"}} {
		var parts strings.Builder
		for _, arch := range []struct{ go_, brew string }{{"arm64", "arm"}, {"amd64", "intel"}} {
			block, err := r.formulaBlock(system{os.go_, arch.go_}, arch.brew)
			if err != nil {
				return err
			}
			parts.WriteString(block)
		}
		if parts.Len() > 0 {
			fmt.Fprintf(&out, "\n  on_%s do\n%s  end\n", os.brew, parts.String())
		}
	}
	out.WriteString(formulaTail)
	return r.write("stopgate.rb", []byte(out.String()))
}

// formulaBlock names the archive of a system, "" if the release has none.
func (r *release) formulaBlock(s system, arch string) (string, error) {
	name := r.archiveName(s) + ".tar.gz"
	text, err := os.ReadFile(filepath.Join(r.out, name))
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("    on_%s do\n      url \"%s/%s/%s\"\n      sha256 \"%s\"\n    end\n", arch, r.base, r.version.described, name, hex.EncodeToString(sum[:])), nil
}
