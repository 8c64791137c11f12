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

{{/* The image of a component: {root, name, image}. Upstream's is refused: it is another program, that
     takes other flags, and values of its chart that are reused bring it along. */}}
{{- define "koordinator.image" -}}
{{- $host := .image.host | default .root.Values.imageRepositoryHost }}
{{- $image := printf "%s%s:%v" (ternary (printf "%s/" $host) "" (ne $host "")) .image.repository .image.tag }}
{{- $ours := .root.Chart.AppVersion }}
{{- if regexMatch "^(registry[.][a-z-]+[.]aliyuncs[.]com|ghcr[.]io|docker[.]io)/koordinator-?sh/" $image }}
{{- fail (printf "%s: the image %s is upstream's, but this chart starts programs of its own. Build them as docs/kubernetes.md says, and set imageRepositoryHost to the registry that has them (with values of an earlier installation: helm upgrade --reset-values)." .name $image) }}
{{- else if regexMatch "^v(0[.][2-7]|1[.][0-9]+)[.][0-9]+(-.*)?$" (toString .image.tag) }}
{{- fail (printf "%s: the image tag %v is a release of upstream's, but this chart starts programs of its own. Set %s.image.tag to that of the image that you have built, such as %s (with values of an earlier installation: helm upgrade --reset-values)." .name .image.tag .name $ours) }}
{{- end }}
{{- $image }}
{{- end }}

{{/* Replaces what the values say of a workload: {root, name, workload}. Prints nothing. */}}
{{- define "koordinator.adjust" -}}
{{- $values := get .root.Values .name }}
{{- $pod := .workload.spec.template.spec }}
{{- $container := index $pod.containers 0 }}
{{- $image := include "koordinator.image" (dict "root" .root "name" .name "image" $values.image) }}
{{- range concat $pod.containers ($pod.initContainers | default list) }}{{ $_ := set . "image" $image }}{{ end }}
{{- $_ := set $container "resources" $values.resources }}
{{- with .root.Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end }}
{{- if $values.hostNetwork }}{{ $_ := set $pod "hostNetwork" true }}{{ end }}
{{- with $values.nodeSelector }}{{ $_ := set $pod "nodeSelector" . }}{{ end }}
{{- with $values.tolerations }}{{ $_ := set $pod "tolerations" . }}{{ end }}
{{- with $values.runtimeClassName }}{{ $_ := set $pod "runtimeClassName" . }}{{ end }}
{{- with $values.nodeAffinity }}
{{- /* Upstream's koordlet takes a whole affinity by this name, the others that of nodes. */}}
{{- $affinity := ternary . (dict "nodeAffinity" .) (hasKey . "nodeAffinity") }}
{{- $_ := set $pod "affinity" (merge $affinity ($pod.affinity | default dict)) }}
{{- end }}
{{- end }}

{{/* Values that upstream's chart knows and that change nothing here, as far as they were given. */}}
{{- define "koordinator.ineffective" -}}
{{- $given := list }}
{{- range list "descheduler" "deviceDaemon" "installation.roleListGroups" "koordlet.enableServiceMonitor"
      "koordlet.hostDirs.kubeletConfigDir" "koordlet.hostDirs.podResourcesProxyPath"
      "scheduler.compatible122FeatureGates" "scheduler.compatibleBelow122FeatureGates"
      "scheduler.enableJobPreemption" "scheduler.monitorEnabled" }}
{{- $place := $.Values }}
{{- range splitList "." . }}
{{- $place = ternary (get $place .) nil (and (kindIs "map" $place) (hasKey $place .)) }}
{{- end }}
{{- if not (kindIs "invalid" $place) }}{{ $given = append $given . }}{{ end }}
{{- end }}
{{- join ", " $given }}
{{- end }}
