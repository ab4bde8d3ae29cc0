package stopgate

// Code is a stable reason code. Its meaning never changes; a new
// meaning gets a new code. A gate or session policy may return its own code of
// the form [a-z0-9_]{1,64}.
type Code string

// Integrity: deny, independent of the policy.
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

// Policy.
const (
	CodePolicyNotConfigured    Code = "policy_not_configured"
	CodePolicyInvalidForSchema Code = "policy_invalid_for_schema"
	CodeNoRuleMatched          Code = "no_rule_matched"
	CodeRuleMatched            Code = "rule_matched"
	CodeRuleSkipped            Code = "rule_skipped"
	CodeMatcherBudget          Code = "matcher_budget"
	CodeUnknownParameter       Code = "unknown_parameter"
	CodeParameterNotCovered    Code = "parameter_not_covered"
	CodeControlCharacter       Code = "control_character"
	CodeProtectedTarget        Code = "protected_target"
	CodeGuardedBelow           Code = "guarded_below"
	CodePathNotKnown           Code = "path_not_known"
	CodePatchNotReadable       Code = "patch_not_readable"
	CodeCommandNotAnalysable   Code = "command_not_analysable"
	CodeOriginUnknown          Code = "origin_unknown"
	CodeOriginBudget           Code = "origin_budget"
	CodeUntrustedText          Code = "untrusted_text"
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

// Approval.
const (
	CodeNoApprover       Code = "no_approver"
	CodeApprovalPending  Code = "approval_pending"
	CodeApprovalDeclined Code = "approval_declined"
	CodeApprovalTimeout  Code = "approval_timeout"
	CodeApprovalStale    Code = "approval_stale"
	CodeClientGone       Code = "client_gone"
)

// Failure: deny.
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

// Requests refused before a call exists, and codes of records and
// operations only (7.6).
const (
	CodeUnauthenticated      Code = "unauthenticated"
	CodeOriginRejected       Code = "origin_rejected"
	CodeRouteUnknown         Code = "route_unknown"
	CodeNotEvaluated         Code = "not_evaluated"
	CodeUnmatchedResult      Code = "unmatched_result"
	CodeCancelled            Code = "cancelled"
	CodeExecutedStateUnknown Code = "executed_state_unknown"
	CodeConfigInvalid        Code = "config_invalid"
	CodeConfigReloadRejected Code = "config_reload_rejected"
)

// maxCode is the longest legal code in bytes.
const maxCode = 64

// Valid reports whether the code has the form [a-z0-9_]{1,64}.
func (c Code) Valid() bool {
	if len(c) == 0 || len(c) > maxCode {
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
// no rule internals, no upstream text. An unknown code gets a neutral
// sentence.
func (c Code) Public() string {
	switch c {
	case CodeMalformedArguments:
		return "The arguments are not valid JSON."
	case CodeDuplicateKey:
		return "An object in the arguments contains the same key twice."
	case CodeAmbiguousKey:
		return "Two keys in the arguments can be read as the same parameter."
	case CodeTrailingData:
		return "There is data after the end of the arguments."
	case CodeTruncatedArguments:
		return "The arguments end before they are complete."
	case CodeNonObjectRoot:
		return "The arguments must be one JSON object."
	case CodeLimitExceeded:
		return "The call exceeds a size or depth limit."
	case CodeSchemaViolation:
		return "The arguments do not fit the tool's schema."
	case CodeProtocolViolation:
		return "The message that carries the call breaks the protocol."
	case CodeEnvelopeMismatch:
		return "The message carries different versions of the same call."
	case CodeStreamTruncated:
		return "The model's answer ended before the call was complete."
	case CodePolicyNotConfigured:
		return "No policy covers this tool."
	case CodePolicyInvalidForSchema:
		return "The policy for this tool does not fit the tool's current schema."
	case CodeNoRuleMatched:
		return "No rule covers these arguments; a person must decide."
	case CodeRuleMatched:
		return "A rule of the policy decided this call."
	case CodeRuleSkipped:
		return "The call was not run because a rule skips it."
	case CodeMatcherBudget:
		return "A value is too long to be examined; send it in smaller parts."
	case CodeOriginUnknown:
		return "It is not known where a value comes from, because this host does not report all texts of the conversation."
	case CodeOriginBudget:
		return "It is not known where a value comes from: the session has more text than the gate keeps."
	case CodeUntrustedText:
		return "Text that anybody may have written was read before this call."
	case CodeUnknownParameter:
		return "The call uses a parameter the tool does not declare."
	case CodeParameterNotCovered:
		return "The call uses a parameter that no rule looks at and no table declares; leave it out, or have it declared."
	case CodeControlCharacter:
		return "A value contains a control character."
	case CodeProtectedTarget:
		return "The call touches, or may touch, a protected file."
	case CodeGuardedBelow:
		return "The command reads or renames whole directories in which files may be guarded; a person must decide."
	case CodePathNotKnown:
		return "It is not known which file a path names; a person must decide."
	case CodePatchNotReadable:
		return "The patch cannot be read with certainty; a person must decide."
	case CodeCommandNotAnalysable:
		return "The command uses shell features that cannot be checked; write it as plain commands."
	case CodePrerequisiteMissing:
		return "Another call must have succeeded first."
	case CodePrerequisitePending:
		return "The required call is in the same turn; wait for its result, then repeat this call."
	case CodeReadRequired:
		return "Read this target before changing it."
	case CodeKeyUnavailable:
		return "The call does not name the target that its session policy needs."
	case CodeSessionPolicyDenied:
		return "A session policy does not allow this call now."
	case CodeHandoffAlreadyTaken:
		return "Only one handoff is possible in a turn."
	case CodeJudgeDenied:
		return "A safety review did not accept this call."
	case CodeServerToolNotAllowed:
		return "This tool runs at the provider and is not allowed."
	case CodeBackgroundNotSupported:
		return "Background responses are not allowed here."
	case CodeResultWithheld:
		return "The call ran; its result is withheld by policy."
	case CodeDenialLimit:
		return "Too many calls were denied; stop and ask the user."
	case CodePolicyDropped:
		return "A policy of this gateway removed the call."
	case CodeRequestRejected:
		return "A policy of this gateway does not allow the request."
	case CodeLockdown:
		return "Everything is denied until an operator lifts the lockdown."
	case CodeNoApprover:
		return "This call needs an approval and nobody can give one here; ask the user."
	case CodeApprovalPending:
		return "An approval is pending; repeat the identical call later."
	case CodeApprovalDeclined:
		return "The approver declined this call."
	case CodeApprovalTimeout:
		return "Nobody approved this call in time."
	case CodeApprovalStale:
		return "The approval does not belong to this call any more."
	case CodeClientGone:
		return "The client went away before the call was decided."
	case CodePolicyError:
		return "The policy failed while it looked at this call."
	case CodePolicyTimeout:
		return "The policy did not decide in time."
	case CodeInvalidPolicyResult:
		return "The policy gave an invalid answer."
	case CodeJudgeUnavailable:
		return "The safety review could not be completed."
	case CodeStoreUnavailable:
		return "The session's state cannot be read now."
	case CodeSessionDegraded:
		return "The session's state is uncertain; an operator must reconcile it."
	case CodeAuditUnavailable:
		return "The decision cannot be recorded now."
	case CodeToolUnreachable:
		return "The tool's server does not answer."
	case CodeToolDefinitionChanged:
		return "The tool has changed since it was accepted; a person must accept it again: 'stopgate mcp pin list --changed' shows it."
	case CodeUpstreamError:
		return "The model provider answered with an error."
	case CodeUpstreamTimeout:
		return "The model provider did not answer in time."
	case CodeOverloaded:
		return "The gate is at its limit; try again later."
	case CodeSnapshotRejected:
		return "The saved state was not accepted."
	case CodeUnauthenticated:
		return "Authentication is missing or failed."
	case CodeOriginRejected:
		return "This origin or host is not allowed."
	case CodeRouteUnknown:
		return "This route is not served."
	case CodeCancelled:
		return "The call was cancelled before it was decided."
	case CodeConfigInvalid:
		return "The policy cannot be used; an operator must mend it."
	}
	return "A policy does not allow this call."
}
