#!/usr/bin/env python3
"""What the chart renders, without a cluster: needs only helm, and kubectl for its kustomize.

    tests/kubernetes/chart_test.py

deploy_test.py installs it.
"""

import pathlib
import subprocess
import sys
import tempfile

import yaml

from cluster import REPOSITORY, ClusterError, build_programs, exit_on_sigterm
from report import Report

DEPLOY = REPOSITORY / "deploy"
CHART = DEPLOY / "helm" / "koordinator"
GATES = "BECPUEvict=true,BEMemoryEvict=true,CgroupReconcile=true,Accelerators=true"
WORKLOADS = {"koordlet": "koordlet", "manager": "koord-manager", "scheduler": "koord-scheduler"}

# Names of upstream's chart that concern what is not part of ours; a file of its users may have them.
OTHERS_VALUES = """
imagePullSecrets: {}
installation: {roleListGroups: ["*"]}
koordlet:
  enableServiceMonitor: false
  hostDirs: {kubeletConfigDir: /etc/kubernetes/, podResourcesProxyPath: /var/run/koordlet/pod-resources/}
  nodeAffinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}
manager: {controllers: "*"}
scheduler:
  compatible122FeatureGates: CompatibleCSIStorageCapacity=true
  compatibleBelow122FeatureGates: CompatiblePodDisruptionBudget=true
  enableJobPreemption: true
  monitorEnabled: false
descheduler: {replicas: 2, image: {repository: koordinator-sh/koord-descheduler, tag: v1.8.0}}
deviceDaemon: {log: {level: "4"}}
"""


class Chart:
    def __init__(self, programs, directory):
        self.helm, self.kubectl = programs / "helm", programs / "kubectl"
        self.directory = directory

    def run(self, *command, text=None):
        return subprocess.run(command, text=True, capture_output=True, input=text)

    def render(self, *flags, values=""):
        done = self.run(self.helm, "template", "koordinator", CHART, "--kube-version=1.35.4",
                        "--values=-", *flags, text=values or "{}")
        if done.returncode != 0:
            raise ClusterError(f"helm template: {done.stderr}")
        return done.stdout

    def objects(self, *flags, values=""):
        """What is rendered, by kind and name."""
        documents = yaml.safe_load_all(self.render(*flags, values=values))
        return {(each["kind"], each["metadata"]["name"]): each for each in documents if each}

    def refusal(self, *flags):
        done = self.run(self.helm, "template", "koordinator", CHART, *flags)
        if done.returncode == 0:
            raise ClusterError(f"helm accepts {flags}")
        return done.stderr

    def kustomize(self, directory):
        done = self.run(self.kubectl, "kustomize", directory)
        if done.returncode != 0:
            raise ClusterError(f"kubectl kustomize: {done.stderr}")
        return {(each["kind"], each["metadata"]["name"]): each
                for each in yaml.safe_load_all(done.stdout)}

    def kustomize_with(self, component):
        """The base with a component, a directory in it."""
        overlay = self.directory / pathlib.Path(component).name
        overlay.mkdir()
        up = [".."] * len(overlay.resolve().relative_to("/").parts)
        base = pathlib.Path(*up, *DEPLOY.parts[1:])
        (overlay / "kustomization.yaml").write_text(yaml.safe_dump({
            "resources": [str(base)], "components": [str(base / component)]}))
        return self.kustomize(overlay)


def expect(condition, message):
    if not condition:
        raise ClusterError(message)


def container_of(objects, kind, name):
    return objects[kind, name]["spec"]["template"]["spec"]["containers"][0]


def crds_in(objects):
    return {name: each for (kind, name), each in objects.items()
            if kind == "CustomResourceDefinition"}


def lint_finds_nothing(chart):
    done = chart.run(chart.helm, "lint", "--strict", CHART)
    expect(done.returncode == 0, done.stdout + done.stderr)


def it_renders_what_the_base_holds(chart):
    base, rendered = chart.kustomize(DEPLOY), chart.objects()
    expect(base.keys() == rendered.keys(),
           f"only one of base and chart has {sorted(base.keys() ^ rendered.keys())}")


def values_have_effect(chart):
    rendered = chart.render(
        "--set=installation.namespace=elsewhere", "--set=crds.devices=false",
        "--set=imageRepositoryHost=registry.test", "--set=manager.image.tag=v9",
        "--set=manager.replicas=3", "--set=scheduler.port=12345",
        "--set=koordlet.features=BECPUEvict=true", "--set=webhookConfiguration.timeoutSeconds=7",
        "--set=webhookConfiguration.failurePolicy.pods=Fail", "--set=koordlet.metrics.port=9999",
        "--set=koordlet.hostDirs.koordletSockDir=/run/here/", "--set=manager.controllers=nodeslo",
        "--set=scheduler.image.host=other.test", "--set=metrics.withoutLogin=true",
        "--set=koordlet.kubeletProxyAccess=true", "--set=koordlet.securePort=12346",
        "--set=koordlet.kubeletSkipTlsVerify=true")
    for text, is_there in {
            "koordinator-system": False, "devices.scheduling.koordinator.sh\n": False,
            "image: registry.test/koordinator-sh/koord-manager:v9": True,
            "image: other.test/koordinator-sh/koord-scheduler:v0.1.0": True,
            "image: koordinator-sh/": False, "replicas: 3": True,
            "--port=12345": True, "--feature-gates=BECPUEvict=true\n": True,
            "--proc-root-dir=/host-proc/": True, "timeoutSeconds: 7": True,
            "failurePolicy: Fail": True, "9316": False, "--controllers=nodeslo": True,
            "--runtime-hooks-host-endpoint=/run/here/koordlet.sock": True,
            "--secure-port=12346": True, "--metrics-without-login=true": True,
            "nodes/proxy": True, "--kubelet-skip-tls-verify=true\n": True}.items():
        expect((text in rendered) == is_there,
               f"{text!r} is {'not ' if is_there else ''}in what helm renders")


def defaults_are_those_of_upstream(chart):
    objects = chart.objects()
    expect(f"--feature-gates={GATES}" in container_of(objects, "DaemonSet", "koordlet")["args"],
           "koordlet's gates")
    expect("skip-tls-verify" not in chart.render(), "koordlet believes any kubelet by default")
    config = objects["ConfigMap", "koord-scheduler-config"]["data"]
    expect(list(config) == ["koord-scheduler-config"], f"the scheduler's configuration: {config}")
    volumes = objects["Deployment", "koord-scheduler"]["spec"]["template"]["spec"]["volumes"]
    items = [{"key": "koord-scheduler-config", "path": "koord-scheduler.config"}]
    expect(any(volume.get("configMap", {}).get("items") == items for volume in volumes),
           "the scheduler does not read its configuration")


def workloads_have_readiness_probes(chart):
    objects = chart.objects()
    for name in ("koord-manager", "koord-scheduler"):
        expect("readinessProbe" in container_of(objects, "Deployment", name), name)
    koordlet = container_of(chart.objects("--set=koordlet.metrics.port=9999"), "DaemonSet", "koordlet")
    expect(koordlet["readinessProbe"]["httpGet"]["port"] == 9999, "koordlet")


def components_can_be_left_out(chart):
    for component, name in WORKLOADS.items():
        objects = chart.objects(f"--set={component}.enabled=false")
        left = [each for each in objects if each[1].startswith(name)]
        expect(not left, f"{component}.enabled=false: {left}")
        expect(("Namespace", "koordinator-system") in objects, "no namespace")
        for other in WORKLOADS.values():
            expect(other == name or ("ServiceAccount", other) in objects, f"no {other}")
        webhooks = [each for each in objects if "Webhook" in each[0]]
        expect(bool(webhooks) == (component != "manager"), f"{component}: {webhooks}")


def extra_arguments_come_last(chart):
    for component, name in WORKLOADS.items():
        objects = chart.objects("--set", f"{component}.extraArgs={{--v=9,--x}}")
        kind = "DaemonSet" if component == "koordlet" else "Deployment"
        args = container_of(objects, kind, name)["args"]
        expect(args[-2:] == ["--v=9", "--x"], f"{name}: {args}")


def typos_are_refused(chart):
    for flag, named in {
            "--set=koordlt.enabled=false": "koordlt", "--set=manager.replcas=1": "replcas",
            "--set=crds.device=false": "device", "--set=scheduler.image.tga=v9": "tga",
            "--set=koordlet.features=BECPUEvict": "features", "--set=manager.replicas=two": "replicas",
            "--set=webhookConfiguration.failurePolicy.pods=Never": "pods"}.items():
        refusal = chart.refusal(flag)
        expect(named in refusal, f"{flag}: {refusal}")


def images_of_upstream_are_refused(chart):
    for flag in ("--set=imageRepositoryHost=registry.cn-beijing.aliyuncs.com",
                 "--set=koordlet.image.host=ghcr.io", "--set=scheduler.image.tag=v1.8.0",
                 "--set=manager.image.tag=v1.7.0-rc1"):
        refusal = chart.refusal(flag)
        expect("upstream's" in refusal and "programs of its own" in refusal, f"{flag}: {refusal}")
    # It is not started, so it does not matter.
    chart.render("--set=scheduler.image.tag=v1.8.0", "--set=scheduler.enabled=false")


def values_of_upstream_are_accepted(chart):
    objects = chart.objects(values=OTHERS_VALUES)
    pod = objects["DaemonSet", "koordlet"]["spec"]["template"]["spec"]
    expect(list(pod["affinity"]["nodeAffinity"]) ==
           ["requiredDuringSchedulingIgnoredDuringExecution"], f"affinity {pod['affinity']}")


def crds_are_those_of_deploy_and_stay(chart):
    crds = crds_in(chart.objects())
    for path in (DEPLOY / "crds").glob("*.yaml"):
        expected = yaml.safe_load(path.read_text())
        crd = crds.pop(expected["metadata"]["name"])
        expect(crd["metadata"]["annotations"].pop("helm.sh/resource-policy") == "keep", path.name)
        crd["metadata"] = {key: value for key, value in crd["metadata"].items() if value}
        expect(crd == expected, f"{path.name} is rendered otherwise")
    expect(not crds, f"unknown CRDs {list(crds)}")
    expect(not crds_in(chart.objects("--set=crds.managed=false")), "crds.managed=false")


def reservations_are_v1_on_request(chart):
    name = "reservations.scheduling.koordinator.sh"
    versions = [each["name"] for each in crds_in(chart.objects())[name]["spec"]["versions"]]
    expect(versions == ["v1alpha1"], f"versions {versions}")
    rendered = crds_in(chart.objects("--set=crds.reservationV1=true"))[name]["spec"]
    kustomized = crds_in(chart.kustomize_with("crds/reservation-v1"))[name]["spec"]
    expect(rendered == kustomized, "helm and kustomize make different CRDs")
    expect([(each["name"], each["served"], each["storage"]) for each in rendered["versions"]] ==
           [("v1alpha1", True, True), ("v1", True, False)], f"versions {rendered['versions']}")


def koordlet_believes_any_kubelet_on_request(chart):
    for objects in (chart.objects("--set=koordlet.kubeletSkipTlsVerify=true"),
                    chart.kustomize_with("koordlet/kubelet-skip-tls-verify")):
        args = container_of(objects, "DaemonSet", "koordlet")["args"]
        expect("--kubelet-skip-tls-verify=true" in args, f"koordlet: {args}")


def koordlet_may_run_commands_on_request_only(chart):
    """Whoever may use nodes/proxy may run commands in every pod of the cluster."""
    def with_proxy(objects):
        return {name for (kind, name), each in objects.items() if kind.endswith("Role")
                for rule in each["rules"] if "nodes/proxy" in rule.get("resources", ())}
    for objects in (chart.objects(), chart.kustomize(DEPLOY)):
        expect(not with_proxy(objects), f"nodes/proxy by default: {with_proxy(objects)}")
        rules = objects["ClusterRole", "koordlet-kubelet"]["rules"]
        expect(rules == [{"apiGroups": [""], "resources": ["nodes/configz", "nodes/pods"],
                          "verbs": ["get"]}], f"koordlet-kubelet: {rules}")
    for objects in (chart.objects("--set=koordlet.kubeletProxyAccess=true"),
                    chart.kustomize_with("koordlet/kubelet-proxy")):
        expect(with_proxy(objects) == {"koordlet-kubelet-proxy"}, f"{with_proxy(objects)}")


TESTS = [lint_finds_nothing, it_renders_what_the_base_holds, values_have_effect,
         defaults_are_those_of_upstream, workloads_have_readiness_probes,
         components_can_be_left_out, extra_arguments_come_last, typos_are_refused,
         images_of_upstream_are_refused, values_of_upstream_are_accepted,
         crds_are_those_of_deploy_and_stay, reservations_are_v1_on_request,
         koordlet_believes_any_kubelet_on_request, koordlet_may_run_commands_on_request_only]


def main():
    report = Report()
    programs = build_programs(["kubectl", "helm"])
    with tempfile.TemporaryDirectory() as directory:
        chart = Chart(programs, pathlib.Path(directory))
        for test in TESTS:
            report.run(test, chart)
    return report.end()


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main())
    except ClusterError as error:
        sys.exit(f"chart_test.py: {error}")
