{{- define "stopgate.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "stopgate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "stopgate.labels" -}}
{{ include "stopgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "stopgate.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end -}}
{{- end -}}

{{- /* The policy file: the operator's text, and where the store and the socket are. */ -}}
{{- define "stopgate.policy" -}}
{{- $url := .Values.store.url -}}
{{- if not $url -}}
{{- if eq .Values.mode "shared" -}}
{{- fail "store.url is required in shared mode: replicas keep their sessions, questions and records in one PostgreSQL database" -}}
{{- end -}}
{{- $url = "sqlite:/var/lib/stopgate/state/stopgate.db" -}}
{{- end -}}
{{ default (.Files.Get "files/stopgate.toml") .Values.policy | trim }}

[store]
url = {{ $url | toJson }}

[api]
socket = "/var/lib/stopgate/state/api.sock"
{{- end -}}

{{- define "stopgate.containerSecurity" -}}
runAsUser: 65532
runAsGroup: 65532
runAsNonRoot: true
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- /* The gate's container, for both modes. */ -}}
{{- define "stopgate.container" -}}
{{- $address := ternary "0.0.0.0" "127.0.0.1" (eq .Values.mode "shared") -}}
name: stopgate
image: {{ include "stopgate.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  - up
  - --policy=/etc/stopgate/stopgate.toml
  - --listen={{ $address }}:{{ .Values.service.port }}
  - --log-format=json
  {{- if eq .Values.mode "shared" }}
  {{- $name := include "stopgate.name" . }}
  {{- range list "" (printf ".%s" .Release.Namespace) (printf ".%s.svc" .Release.Namespace) (printf ".%s.svc.cluster.local" .Release.Namespace) }}
  - --host={{ $name }}{{ . }}
  {{- end }}
  {{- end }}
env:
  {{- range .Values.secrets }}
  - name: {{ .variable }}
    valueFrom: { secretKeyRef: { name: {{ .name | quote }}, key: {{ .key | quote }} } }
  {{- end }}
  {{- with .Values.store.passwordSecret }}{{ if .name }}
  - name: PGPASSWORD
    valueFrom: { secretKeyRef: { name: {{ .name | quote }}, key: {{ .key | quote }} } }
  {{- end }}{{ end }}
securityContext: {{ include "stopgate.containerSecurity" . | nindent 2 }}
resources: {{ toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - { name: policy, mountPath: /etc/stopgate, readOnly: true }
  - { name: state, mountPath: /var/lib/stopgate }
  {{- if .Values.store.caConfigMap.name }}
  - { name: store-ca, mountPath: /etc/stopgate-store, readOnly: true }
  {{- end }}
  {{- if .Values.tls.secret }}
  - { name: tls, mountPath: /etc/stopgate-tls, readOnly: true }
  {{- end }}
{{- end -}}

{{- define "stopgate.volumes" -}}
- name: policy
  configMap: { name: {{ include "stopgate.name" . }} } # a changed policy comes into force by itself
- name: state
  emptyDir: {}
{{- with .Values.store.caConfigMap }}{{ if .name }}
- name: store-ca
  configMap: { name: {{ .name | quote }}, items: [{ key: {{ .key | quote }}, path: ca.crt }] }
{{- end }}{{ end }}
{{- with .Values.tls.secret }}
- name: tls
  secret: { secretName: {{ . | quote }}, defaultMode: 288 } # 0440
{{- end }}
{{- end -}}

{{- /* What both pods have. */ -}}
{{- define "stopgate.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ add .Values.drainSeconds 15 }}
securityContext:
  runAsNonRoot: true
  fsGroup: 65532
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
