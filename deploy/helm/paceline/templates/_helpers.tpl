{{/* Of all names the first part. With the longest suffix, "-coordinator", a
     StatefulSet's name may have 52 characters. */}}
{{- define "paceline.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains "paceline" $name) }}{{ $name = printf "%s-paceline" $name }}{{ end -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* What tells the pods of a component from others: (list ROOT COMPONENT). */}}
{{- define "paceline.selector" -}}
app.kubernetes.io/name: paceline
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{/* (list ROOT COMPONENT) */}}
{{- define "paceline.labels" -}}
{{ include "paceline.selector" . }}
app.kubernetes.io/version: {{ (first .).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (first .).Release.Service }}
helm.sh/chart: paceline-{{ (first .).Chart.Version }}
{{- end }}

{{- define "paceline.address" -}}
{{ include "paceline.name" . }}-coordinator:{{ .Values.coordinator.port }}
{{- end }}

{{- define "paceline.tag" -}}
{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "paceline.image" -}}
{{ .Values.image.repository }}:{{ include "paceline.tag" . }}
{{- end }}

{{/* Of a pod: no rights, and no token of the cluster. */}}
{{- define "paceline.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.runAs.user }}
  runAsGroup: {{ .Values.runAs.group }}
  fsGroup: {{ .Values.runAs.group }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "paceline.container" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "paceline.secretVolume" -}}
name: secret
secret:
  secretName: {{ .Values.secret.name }}
  defaultMode: 0440
  items: [{key: {{ .Values.secret.key | quote }}, path: secret}]
{{- end }}

{{/* Where the pods of a component run: (its values). */}}
{{- define "paceline.placement" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with get $ $key }}
{{ $key }}: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
