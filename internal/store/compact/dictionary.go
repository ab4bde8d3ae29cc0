package compact

import (
	"slices"
	"sync"
)

// fragments are the dictionary of version 1. It is part of the format: entries are neither changed nor
// moved. A better dictionary is another version. The first [short] of them take one byte, the others two.
var fragments = [...]string{
	// Rows of decisions, in the order of their members.
	`{"v":1,"seq":`, `,"chain":"`, `","time":"`, `","kind":"decision","id":"`, `","kind":"event","event":"`,
	`","session":"`, `","principal":"`, `","principal":"local","surface":"`, `","groups":[`, `","surface":"`,
	`","dialect":"`, `","agent":"`, `","turn":"`, `","tool":"`, `","call_id":"`, `","handoff":"`, `","args_hash":"`,
	`","args_bytes":`, `,"released_hash":"`, `","released_hash":"`, `,"status":"`, `","status":"allowed","mode":"unattended","layer":"`,
	`,"status":"allowed","mode":"unattended","layer":"`, `","status":"allowed","mode":"ask","layer":"`,
	`,"status":"denied","mode":"deny","layer":"`, `,"status":"observed","mode":"`, `","mode":"`, `","layer":"`,
	`rules","code":"rule_matched","rule":{"file":"`, `rules","code":"rule_matched`, `rules","code":"no_rule_matched`, `approval","code":"`, `guard","code":"`, `floor","code":"`,
	`failure","code":"`, `session","code":"`, `integrity","code":"`, `gate","code":"`, `","code":"`, `","cause":"`,
	`","rule":{"file":"`, `pack:coding","line":`, `stopgate.toml","line":`, `.toml","line":`, `","line":`, `,"index":`, `,"id":"`, `},"candidates":[`,
	`"candidates":[`, `],"pointer":"`, `},"pointer":"`, `","pointer":"`, `","segment":{"index":`, `,"of":`, `","decided_at":`,
	`,"decided_at":`, `},"decided_at":`, `,"floors":[{"mode":"`, `"floors":[`, `,"at":`, `}],`, `"objections":[`, `"origins":[`, `"judge":{`,
	`"external":[{`, `"approval":{"id":"`, `,"approval":{"id":"grant:`, `,"facts_at":`, `,"texts":{"log":"`, `","number":`, `,"policy":"`,
	`},"policy":"`, `","policy":"`, `"unversioned":[`, `"bundle":{"generation":`, `,"digest":"`, `","definition":"`, `","path_resolution":"`,
	`","path_resolution":"lexical","context":{"root":"`, `","path_resolution":"lexical"`, `,"context":{"root":"`, `"context":{`, `","dir":"`, `","home":"`, `","run":"`, `","server":"`,
	`","session_data":"`, `"},"enforced":true,"prev":"`, `,"enforced":true,"prev":"`, `"},"enforced":false,"prev":"`, `,"enforced":false,"prev":"`,
	`,"count":`, `,"usage":{"input_tokens":`, `,"output_tokens":`, `,"checkpoint":{"seq":`, `,"prev":"`, `","prev":"`, `","hash":"`,
	`","parent":"`, `","gate":"`, `"gate":"`,
	// Values.
	`gateway`, `hook","dialect":"`, `anthropic`, `openai-chat`, `openai-responses`, `gemini`, `claude`, `unattended`, `default`, `/command`,
	`/file_path`, `/path`, `/url`, `Bash`, `Read`, `Edit`, `Write`, `Grep`, `Glob`, `WebFetch`, `toolu_01`, `call_`, `/home/`, `/srv/`, `/Users/`,
	`result`, `asked`, `answered`,
	// Facts, in the order of their members.
	`{"seq":`, `,"kind":"released","proposal":"`, `,"kind":"ended","proposal":"`, `,"kind":"`, `","proposal":"`, `","marks":[{"key":{"space":"tool","name":"`, `"},"permits":true,"opens":true}],"release":{"verdict":{"Decided":true,"Mode":"unattended","Layer":"rules","Code":"rule_matched","Rule":{"file":"`,
	`"},"permits":true`, `","marks":[{"key":{"space":"`, `"key":{"space":"`,
	`},{"key":{"space":"`, `{"space":"call","value":"`, `"},"opens":true`, `"},"counts":true`, `"scope":1,"space":"`, `","name":"`, `","value":"`,
	`,"release":{"verdict":{"Decided":true,"Mode":"`, `],"release":{"verdict":{"Decided":true,"Mode":"`, `","Layer":"`, `","Code":"`,
	`rules","Code":"rule_matched","Rule":{"file":"`, `","Rule":{"file":"`, `","Rule":null`, `},"Candidates":null,"Pointer":"`,
	`,"Candidates":null,"Pointer":"`, `,"Candidates":null,"Pointer":"","Segment":null,"DecidedAt":`, `,"Public":"A rule of the policy decided this call.","Floors":null},"policy":"`,
	`","dialect":"anthropic","surface":"gateway"}}`, `"},"Candidates":null,"Pointer":"`, `","Segment":null,"DecidedAt":`, `,"Public":"","Floors":null},"policy":"`, `,"Public":"`, `","Floors":null`,
	`,"Floors":[{"mode":"`, `"observe":true`, `,"step":`, `"by":"`, `"text":"`, `,"call":{"fact":{"seq":`, `{"call":{"fact":{"seq":`, `,"at":0,"kind":""}}}`, `,"at":0,"kind":""}`,
	`,"end":{"seq":`, `{"permits":[`, `"certain":true`, `,"text":"`, `"open":[`, `"past":[`, `"done":"`, `"self":{"`, `"same":`, `"last":"`,
	// The following take two bytes.
	`skipped`, `cancelled`, `truncated`, `edited`, `observed`, `denied`, `allowed`, `deny`, `skip`, `library`, `decide`, `mcp`, `agent`,
	`release_failed`, `reload`, `snapshot`, `restored`, `reconciled`, `lockdown`, `lifted`, `stopped`, `answer_stopped`, `not_evaluated`,
	`texts_lost`, `unmatched_result`, `torn_tail`, `checkpoint`,
	`malformed_arguments`, `duplicate_key`, `ambiguous_key`, `trailing_data`, `truncated_arguments`, `non_object_root`, `limit_exceeded`,
	`schema_violation`, `protocol_violation`, `envelope_mismatch`, `stream_truncated`, `policy_not_configured`, `policy_invalid_for_schema`,
	`no_rule_matched`, `rule_matched`, `rule_skipped`, `matcher_budget`, `unknown_parameter`, `parameter_not_covered`, `control_character`,
	`protected_target`, `guarded_below`, `path_not_known`, `patch_not_readable`, `command_not_analysable`, `origin_unknown`, `origin_budget`,
	`untrusted_text`, `prerequisite_missing`, `prerequisite_pending`, `read_required`, `key_unavailable`, `session_policy_denied`,
	`handoff_already_taken`, `judge_denied`, `server_tool_not_allowed`, `background_not_supported`, `result_withheld`, `denial_limit`,
	`policy_dropped`, `request_rejected`, `no_approver`, `approval_pending`, `approval_declined`, `approval_timeout`, `approval_stale`,
	`client_gone`, `policy_error`, `policy_timeout`, `invalid_policy_result`, `judge_unavailable`, `store_unavailable`, `session_degraded`,
	`audit_unavailable`, `tool_unreachable`, `tool_definition_changed`, `upstream_error`, `upstream_timeout`, `overloaded`,
	`snapshot_rejected`, `unauthenticated`, `origin_rejected`, `route_unknown`, `executed_state_unknown`, `config_invalid`,
	`config_reload_rejected`, `"run_doubt":true`, `"run_lost":true`, `"pinned":true`, `"cut":true`, `"binding":"`, `"referred":true`,
	`"answer":"`, `"scope":"`, `"reason":"`, `"expires":`, `"asked":"`, `"answered":"`, `"source":"`, `"trust":"`, `"tool":"`, `"name":"`,
	`"code":"`, `"mode":"`, `"pointer":"`, `NotebookEdit`, `WebSearch`, `TodoWrite`, `MultiEdit`, `Task`, `/pattern`, `/content`, `/query`,
	`exec_command`, `apply_patch`, `shell`, `write_file`, `read_file`, `edit_file`, `list_dir`, `bash`, `grep`, `fetch`, `mcp__`,
	`"},{"`, `},{"`, `":"`, `","`, `":{"`, `":[`, `":true`, `":false`, `":null`, `true`, `false`, `null`, `/stopgate`, `.toml`, `https://`, `http://`,
}

// Tokens. The others are fragments.
const (
	version = 1

	tokenPlain  = iota // a length, and that many bytes
	tokenSum           // a SHA-256 in lower-case hex: 32 bytes
	tokenSame          // a digest of this text again: its number
	tokenULID          // 16 bytes
	tokenUUID          // in lower-case hex with hyphens: 16 bytes
	tokenUpper         // 26 digits of upper-case hex: 13 bytes
	tokenLower         // digits of lower-case hex: the number of bytes, and the bytes
	tokenBase64        // 43 digits of base64 in the alphabet for URLs: 32 bytes
	tokenTime          // in UTC, in the form of RFC 3339: 8 bytes of nanoseconds since 1970
	tokenNumber        // decimal digits without a leading zero
	tokenRare          // a fragment: its number above short
	tokenName          // a name of the store: its number
	_                  // not used
	firstShort

	short = 256 - firstShort // fragments of one byte
)

// shortest is the length of the shortest fragment: the encoder finds fragments by their first bytes.
const shortest = 3

// index lists the fragments that begin with the same bytes, the longest first.
var index = sync.OnceValue(func() *[1 << 12][]int16 {
	t := new([1 << 12][]int16)
	for i, f := range fragments {
		at := &t[slot(f)]
		n, _ := slices.BinarySearchFunc(*at, len(f), func(j int16, size int) int { return size - len(fragments[j]) })
		*at = slices.Insert(*at, n, int16(i))
	}
	return t
})

// slot returns the place in the index of a text with at least [shortest] bytes.
func slot[T string | []byte](text T) uint32 {
	return (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) * 2654435761 >> 20
}
