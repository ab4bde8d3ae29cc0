package occur

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for _, test := range []struct{ name, text, visible, hidden string }{
		{"plain text", "a < b and List<String> x", "a < b and List<String> x", ""},
		{"empty", "", "", ""},
		{"inline elements", "<p>exam<b>ple</b>.com</p><p>two</p>", "example.com two exam ple ple .com", ""},
		{"comment", "visible <!-- send it to evil --> text", "visible text", "send it to evil"},
		{"script and style", "<div>a<script>b</script><style>c{}</style></div>", "a", "b c{}"},
		{"hidden attribute", "<p>a</p><p hidden>b<i>c</i></p>", "a", "b c"},
		{"display none", `<p>a<span style="DISPLAY : none">b</span></p>`, "a", "b DISPLAY : none"},
		{"comment in a style", `<p>a<span style="display:/**/none">b</span></p>`, "a", "b display:/**/none"},
		{"escape in a style", `<p>a<span style="\64 isplay:none">b</span></p>`, "a", `b \64 isplay:none`},
		{"white", `<p>a<span style="color:#ffffff">b</span></p>`, "a", "b color:#ffffff"},
		{"no size", `<p>a<span style="height:0px">b</span><span style="opacity:0.5">c</span></p>`, "ac a c", "b height:0px opacity:0.5"},
		{"class", `<style>.x{display:none}</style><p>a<span class="y x">b</span></p>`, "a", ".x{display:none} b y x"},
		{"hidden input", `<form><input type=hidden value=b><input value=a></form>`, "a", "hidden b"},
		{"links", `<a href="https://example.com/a">a</a><img src="/b.png" alt="c">`, "a https://example.com/a /b.png", "c"},
		{"link with entities", `<a href="https://example.com/?a=1&amp;b=2">a</a>`, "a https://example.com/?a=1&b=2", ""},
		{"template", "<template><div hidden></div>b</template>a", "a", "b"},
		{"unclosed", "<div>a<div hidden>b</div>c", "ac a c", "b"},
		{"entities", "<p>a&amp;b &lt;x&gt;</p>", "a&b <x>", ""},
		{"unknown element", "<p>a</p><evil-corp>b</evil-corp>", "a b", "evil-corp evil-corp"},
		{"tag characters", "a\U000e0065\U000e0076\U000e0069\U000e006cb", "ab", "evil"},
		{"variation selectors", "a" + smuggled("evil") + "b", "ab", "evil"},
		{"single invisible character", "zero\u200bwidth", "zero\u200bwidth", ""},
		{"emoji", "\u2764\ufe0f family \U0001f468\u200d\U0001f469", "\u2764\ufe0f family \U0001f468\u200d\U0001f469", ""},
		{"nested deeply", strings.Repeat("<div>", 100_000) + "a", "", strings.Repeat("<div>", 100_000) + "a"},
	} {
		var visible, hidden []string
		for _, p := range Visible([]byte(test.text)) {
			words := strings.Join(strings.Fields(string(p.Text)), " ")
			if p.Hidden {
				hidden = append(hidden, words)
			} else {
				visible = append(visible, words)
			}
		}
		if v, h := strings.TrimSpace(strings.Join(visible, " ")), strings.Join(hidden, " "); v != test.visible || h != test.hidden {
			t.Errorf("%s: visible %.200q, hidden %.200q", test.name, v, h)
		}
	}
}

// smuggled encodes bytes as variation selectors.
func smuggled(text string) (out string) {
	for _, c := range []byte(text) {
		out += string(rune(0xE0100 + int(c) - 16))
	}
	return out
}

// A part of a secret shares a piece with it, whatever separates its letters.
func TestPartsOfSecretsHavePieces(t *testing.T) {
	for _, secret := range []string{
		"sk-proj-9aKx27Lm0Qz81TvBn45RrYc63", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE",
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "0f3a9c7be41d582660b7a1c3d9e8f421", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
	} {
		kept := map[string]bool{}
		Secrets([]byte("export KEY="+secret+"\n"), func(p []byte) { kept[string(p)] = true })
		letters := bytes.Map(func(r rune) rune {
			if classes[byte(r)]&alnum == 0 {
				return -1
			}
			return r
		}, []byte(secret))
		for i := 0; i+16 <= len(letters); i++ {
			for _, value := range []string{string(letters[i : i+16]), spread(letters[i:i+16], " - "), strings.ToUpper(string(letters[i : i+16])), "xyz" + string(letters[i:i+16]) + "xyz"} {
				found := false
				Pieces([]byte(value), func(p []byte) { found = found || kept[string(p)] })
				if !found {
					t.Errorf("%s: no piece of %q", secret, value)
				}
			}
		}
	}
}

func spread(text []byte, between string) string {
	return strings.Join(strings.Split(string(text), ""), between)
}

func TestOrdinaryWordsAreNoSecrets(t *testing.T) {
	for _, text := range []string{
		"internationalization getElementById https://example.com/docs/reference/index.html", "2025-05-03T10:00:00Z", "Donaudampfschifffahrtsgesellschaft",
		"+49 170 1234567 1234567890123456", "src/internal/condition/spelling/decode.go", "TestOrdinaryWordsAreNoSecrets", "SOME_CONSTANT_OF_THE_PROGRAM",
		"invoice-2024-annual-report.pdf", "http://localhost:8080/path/to/something",
	} {
		Secrets([]byte(text), func(p []byte) { t.Errorf("%q: %s", text, p) })
	}
}

func TestReadings(t *testing.T) {
	var got []string
	open := Readings([]byte("bWFsbG9yeUBldmlsLmV4YW1wbGU%3D"), func(text []byte) bool {
		got = append(got, string(text))
		return true
	})
	if want := `["bWFsbG9yeUBldmlsLmV4YW1wbGU%3D" "bWFsbG9yeUBldmlsLmV4YW1wbGU=" "mallory@evil.example"]`; fmt.Sprintf("%q", got) != want || open {
		t.Errorf("got %q, open %v", got, open)
	}
}
