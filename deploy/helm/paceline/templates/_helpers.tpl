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

{{/* The Secret with the certificate; "" without TLS. */}}
{{- define "paceline.tlsSecret" -}}
{{- with .Values.tls }}
{{- $isManaged := .certManager.enabled }}
{{- if and .secretName $isManaged }}
{{- fail (printf "tls: secretName is %q, and certManager.enabled true; expected one of them" .secretName) }}
{{- else if and .enabled (not .secretName) (not $isManaged) }}
{{- fail "tls: enabled is true, but there is neither secretName nor certManager.enabled; expected one of them" }}
{{- else if and (not .enabled) (or .secretName $isManaged) }}
{{- fail "tls: enabled is false, but there is secretName or certManager.enabled; expected true" }}
{{- else if and $isManaged (not .certManager.issuerRef.name) }}
{{- fail "tls.certManager: issuerRef.name is empty; expected an issuer's name" }}
{{- else if .enabled }}
{{- .secretName | default (printf "%s-tls" (include "paceline.name" $)) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "paceline.tlsArgs" -}}
{{- if include "paceline.tlsSecret" . }}
- --tls-cert=/etc/paceline-tls/tls.crt
- --tls-key=/etc/paceline-tls/tls.key
- --tls-ca=/etc/paceline-tls/ca.crt
{{- end }}
{{- end }}

{{- define "paceline.tlsMount" -}}
{{- if include "paceline.tlsSecret" . }}
- {name: tls, mountPath: /etc/paceline-tls, readOnly: true}
{{- end }}
{{- end }}

{{- define "paceline.tlsVolume" -}}
{{- with include "paceline.tlsSecret" . }}
- name: tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}, {key: ca.crt, path: ca.crt}]
{{- end }}
{{- end }}

{{/* What the certificate must be for. A wildcard's domain needs a dot, so
     daemons advertise the names with the namespace. */}}
{{- define "paceline.dnsNames" -}}
{{- $name := include "paceline.name" . }}
{{- $domain := printf "%s.svc" .Release.Namespace }}
- {{ $name }}-coordinator
- {{ $name }}-coordinator.{{ .Release.Namespace }}
- {{ $name }}-coordinator.{{ $domain }}
- {{ $name }}-coordinator.{{ $domain }}.cluster.local
- {{ printf "*.%s-ps.%s" $name $domain | quote }}
- {{ printf "*.%s-worker.%s" $name $domain | quote }}
{{- range .Values.tls.certManager.dnsNames }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* A probe of the coordinator: (list ROOT SERVICE). Kubelets' gRPC speaks no
     TLS, so with TLS it is a command, which says what is wrong before its time
     is over. */}}
{{- define "paceline.probe" -}}
{{- $port := (first .).Values.coordinator.port }}
{{- if include "paceline.tlsSecret" (first .) }}
exec:
  command:
    - /usr/lib/paceline/coordinator
    - health
    - 127.0.0.1:{{ $port }}
    - --service={{ last . }}
    - --timeout=4
    {{- include "paceline.tlsArgs" (first .) | nindent 4 }}
{{- else }}
grpc: {port: {{ $port }}, service: {{ last . }}}
{{- end }}
timeoutSeconds: 5
{{- end }}

{{/* Where the pods of a component run: (its values). */}}
{{- define "paceline.placement" -}}
{{- range $key := list "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with get $ $key }}
{{ $key }}: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
