{{/* The documents of a file of deploy/, for the namespace of the installation, as {documents: [...]}. */}}
{{- define "koordinator.documents" -}}
{{- $text := .root.Files.Get (printf "files/%s" .file) | replace "koordinator-system" .root.Values.installation.namespace }}
{{- $documents := list }}
{{- range regexSplit "(?m)^---$" $text -1 }}
{{- $document := fromYaml . }}
{{- if $document }}{{ $documents = append $documents $document }}{{ end }}
{{- end }}
{{- toYaml (dict "documents" $documents) }}
{{- end }}

{{- define "koordinator.image" -}}
{{- $host := .root.Values.imageRepositoryHost -}}
{{ if $host }}{{ $host }}/{{ end }}{{ .image.repository }}:{{ .image.tag }}
{{- end }}

{{/* Replaces what the values say of a workload: {root, workload, values}. Prints nothing. */}}
{{- define "koordinator.adjust" -}}
{{- $pod := .workload.spec.template.spec }}
{{- $container := index $pod.containers 0 }}
{{- $image := include "koordinator.image" (dict "root" .root "image" .values.image) }}
{{- range concat $pod.containers ($pod.initContainers | default list) }}{{ $_ := set . "image" $image }}{{ end }}
{{- $_ := set $container "resources" .values.resources }}
{{- with .root.Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end }}
{{- if .values.hostNetwork }}{{ $_ := set $pod "hostNetwork" true }}{{ end }}
{{- with .values.nodeSelector }}{{ $_ := set $pod "nodeSelector" . }}{{ end }}
{{- with .values.tolerations }}{{ $_ := set $pod "tolerations" . }}{{ end }}
{{- with .values.runtimeClassName }}{{ $_ := set $pod "runtimeClassName" . }}{{ end }}
{{- with .values.nodeAffinity }}
{{- $_ := set $pod "affinity" (merge (dict "nodeAffinity" .) ($pod.affinity | default dict)) }}
{{- end }}
{{- end }}
