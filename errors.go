package stopgate

// Code is a stable reason code (THREATS 7). Its meaning never changes; a new
// meaning gets a new code. A gate or session policy may return its own code of
// the form [a-z0-9_]{1,64}.
type Code string

// Integrity: deny, independent of the policy (THREATS 7.1).
const (
	CodeMalformedArguments Code = "malformed_arguments"
	CodeDuplicateKey       Code = "duplicate_key"
	CodeAmbiguousKey       Code = "ambiguous_key"
	CodeTrailingData       Code = "trailing_data"
	CodeTruncatedArguments Code = "truncated_arguments"
	CodeNonObjectRoot      Code = "non_object_root"
	CodeLimitExceeded      Code = "limit_exceeded"
	CodeSchemaViolation    Code = "schema_violation"
	CodeProtocolViolation  Code = "protocol_violation"
	CodeEnvelopeMismatch   Code = "envelope_mismatch"
	CodeStreamTruncated    Code = "stream_truncated"
)

// Policy (THREATS 7.2).
const (
	CodePolicyNotConfigured    Code = "policy_not_configured"
	CodePolicyInvalidForSchema Code = "policy_invalid_for_schema"
	CodeNoRuleMatched          Code = "no_rule_matched"
	CodeRuleMatched            Code = "rule_matched"
	CodeRuleSkipped            Code = "rule_skipped"
	CodeUnknownParameter       Code = "unknown_parameter"
	CodeControlCharacter       Code = "control_character"
	CodeProtectedTarget        Code = "protected_target"
	CodeGuardedBelow           Code = "guarded_below"
	CodePatchNotReadable       Code = "patch_not_readable"
	CodeCommandNotAnalysable   Code = "command_not_analysable"
	CodePrerequisiteMissing    Code = "prerequisite_missing"
	CodePrerequisitePending    Code = "prerequisite_pending"
	CodeReadRequired           Code = "read_required"
	CodeKeyUnavailable         Code = "key_unavailable"
	CodeSessionPolicyDenied    Code = "session_policy_denied"
	CodeHandoffAlreadyTaken    Code = "handoff_already_taken"
	CodeJudgeDenied            Code = "judge_denied"
	CodeServerToolNotAllowed   Code = "server_tool_not_allowed"
	CodeBackgroundNotSupported Code = "background_not_supported"
	CodeResultWithheld         Code = "result_withheld"
	CodeDenialLimit            Code = "denial_limit"
	CodeLockdown               Code = "lockdown"
	CodePolicyDropped          Code = "policy_dropped"
	CodeRequestRejected        Code = "request_rejected"
)

// Approval (THREATS 7.3).
const (
	CodeNoApprover       Code = "no_approver"
	CodeApprovalPending  Code = "approval_pending"
	CodeApprovalDeclined Code = "approval_declined"
	CodeApprovalTimeout  Code = "approval_timeout"
	CodeApprovalStale    Code = "approval_stale"
	CodeClientGone       Code = "client_gone"
)

// Failure: deny (THREATS 7.4).
const (
	CodePolicyError           Code = "policy_error"
	CodePolicyTimeout         Code = "policy_timeout"
	CodeInvalidPolicyResult   Code = "invalid_policy_result"
	CodeJudgeUnavailable      Code = "judge_unavailable"
	CodeStoreUnavailable      Code = "store_unavailable"
	CodeSessionDegraded       Code = "session_degraded"
	CodeAuditUnavailable      Code = "audit_unavailable"
	CodeToolUnreachable       Code = "tool_unreachable"
	CodeToolDefinitionChanged Code = "tool_definition_changed"
	CodeUpstreamError         Code = "upstream_error"
	CodeUpstreamTimeout       Code = "upstream_timeout"
	CodeOverloaded            Code = "overloaded"
	CodeSnapshotRejected      Code = "snapshot_rejected"
)

// Requests refused before a call exists (THREATS 7.5), and codes of records and
// operations only (7.6).
const (
	CodeUnauthenticated      Code = "unauthenticated"
	CodeOriginRejected       Code = "origin_rejected"
	CodeRouteUnknown         Code = "route_unknown"
	CodeNotEvaluated         Code = "not_evaluated"
	CodeUnmatchedResult      Code = "unmatched_result"
	CodeMatcherBudget        Code = "matcher_budget"
	CodeCancelled            Code = "cancelled"
	CodeExecutedStateUnknown Code = "executed_state_unknown"
	CodeConfigInvalid        Code = "config_invalid"
	CodeConfigReloadRejected Code = "config_reload_rejected"
)

// MaxCode is the longest legal code in bytes.
const MaxCode = 64

// Valid reports whether the code has the form [a-z0-9_]{1,64} (THREATS 7).
func (c Code) Valid() bool {
	if len(c) == 0 || len(c) > MaxCode {
		return false
	}
	for i := range len(c) {
		b := c[i]
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '_' {
			return false
		}
	}
	return true
}

// Public returns the code's sentence for models and people: no argument values,
// no rule internals, no upstream text (THREATS 7). An unknown code gets a neutral
// sentence.
func (c Code) Public() string {
	if text, ok := publicTexts[c]; ok {
		return text
	}
	return "A policy does not allow this call."
}

var publicTexts = map[Code]string{
	CodeMalformedArguments:     "The arguments are not valid JSON.",
	CodeDuplicateKey:           "An object in the arguments contains the same key twice.",
	CodeAmbiguousKey:           "Two keys in the arguments can be read as the same parameter.",
	CodeTrailingData:           "There is data after the end of the arguments.",
	CodeTruncatedArguments:     "The arguments end before they are complete.",
	CodeNonObjectRoot:          "The arguments must be one JSON object.",
	CodeLimitExceeded:          "The call exceeds a size or depth limit.",
	CodeSchemaViolation:        "The arguments do not fit the tool's schema.",
	CodeProtocolViolation:      "The message that carries the call breaks the protocol.",
	CodeEnvelopeMismatch:       "The message carries different versions of the same call.",
	CodeStreamTruncated:        "The model's answer ended before the call was complete.",
	CodePolicyNotConfigured:    "No policy covers this tool.",
	CodePolicyInvalidForSchema: "The policy for this tool does not fit the tool's current schema.",
	CodeNoRuleMatched:          "No rule covers these arguments; a person must decide.",
	CodeRuleMatched:            "A rule of the policy decided this call.",
	CodeRuleSkipped:            "The call was not run because a rule skips it.",
	CodeUnknownParameter:       "The call uses a parameter the tool does not declare.",
	CodeControlCharacter:       "A value contains a control character.",
	CodeProtectedTarget:        "The call touches, or may touch, a protected file.",
	CodeGuardedBelow:           "The command reads or renames whole directories in which files may be guarded; a person must decide.",
	CodePatchNotReadable:       "The patch cannot be read with certainty; a person must decide.",
	CodeCommandNotAnalysable:   "The command uses shell features that cannot be checked; write it as plain commands.",
	CodePrerequisiteMissing:    "Another call must have succeeded first.",
	CodePrerequisitePending:    "The required call is in the same turn; wait for its result, then repeat this call.",
	CodeReadRequired:           "Read this target before changing it.",
	CodeKeyUnavailable:         "The call does not name the target that its session policy needs.",
	CodeSessionPolicyDenied:    "A session policy does not allow this call now.",
	CodeHandoffAlreadyTaken:    "Only one handoff is possible in a turn.",
	CodeJudgeDenied:            "A safety review did not accept this call.",
	CodeServerToolNotAllowed:   "This tool runs at the provider and is not allowed.",
	CodeBackgroundNotSupported: "Background responses are not allowed here.",
	CodeResultWithheld:         "The call ran; its result is withheld by policy.",
	CodeDenialLimit:            "Too many calls were denied; stop and ask the user.",
	CodePolicyDropped:          "A policy of this gateway removed the call.",
	CodeRequestRejected:        "A policy of this gateway does not allow the request.",
	CodeLockdown:               "Everything is denied until an operator lifts the lockdown.",
	CodeNoApprover:             "This call needs an approval and nobody can give one here.",
	CodeApprovalPending:        "An approval is pending; repeat the identical call later.",
	CodeApprovalDeclined:       "The approver declined this call.",
	CodeApprovalTimeout:        "Nobody approved this call in time.",
	CodeApprovalStale:          "The approval does not belong to this call any more.",
	CodeClientGone:             "The client went away before the call was decided.",
	CodePolicyError:            "The policy failed while it looked at this call.",
	CodePolicyTimeout:          "The policy did not decide in time.",
	CodeInvalidPolicyResult:    "The policy gave an invalid answer.",
	CodeJudgeUnavailable:       "The safety review could not be completed.",
	CodeStoreUnavailable:       "The session's state cannot be read now.",
	CodeSessionDegraded:        "The session's state is uncertain; an operator must reconcile it.",
	CodeAuditUnavailable:       "The decision cannot be recorded now.",
	CodeToolUnreachable:        "The tool's server does not answer.",
	CodeToolDefinitionChanged:  "The tool has changed since it was accepted; an operator must accept it again.",
	CodeUpstreamError:          "The model provider answered with an error.",
	CodeUpstreamTimeout:        "The model provider did not answer in time.",
	CodeOverloaded:             "The gate is at its limit; try again later.",
	CodeSnapshotRejected:       "The saved state was not accepted.",
	CodeUnauthenticated:        "Authentication is missing or failed.",
	CodeOriginRejected:         "This origin or host is not allowed.",
	CodeRouteUnknown:           "This route is not served.",
	CodeCancelled:              "The call was cancelled before it was decided.",
	CodeConfigInvalid:          "The policy cannot be used; an operator must mend it.",
}
