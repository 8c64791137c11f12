"""A real node: containerd, runc, CNI and kubelet on a Machine, joined to a Cluster.

    with Cluster(controller_manager=True) as cluster, Node(cluster) as node:
        cluster.kubectl("get", "node", node.name)

The node's name is its address, 127.0.0.1: kubelets take that as their own only from their name. It
has the image BUSYBOX, which sleeps unless told otherwise, and can import more.
"""

import json
import subprocess

from cluster import (REPOSITORY, STOP_DEADLINE_S, ClusterError, build_programs, free_ports,
                     make_certificate)
from image import BUSYBOX, busybox_files, write_image
from machine import Machine

ADDRESS = "127.0.0.1"
CNI_PLUGINS = "/usr/lib/cni"  # where Debian has them
SOCKET = "/run/containerd/containerd.sock"
READY_DEADLINE_S = 240


class Node:
    def __init__(self, cluster, name=ADDRESS):
        self.name = name
        self.cluster = cluster
        # Beside the cluster's, so that stopping the cluster's directory finds it.
        self.directory = cluster.directory / f"node-{cluster.directory.name}"
        self.machine = Machine(self.directory)
        self.kubelet_port, = free_ports(1)
        self._children = {}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Returns once the node is Ready, or stops everything and raises."""
        subprocess.run([REPOSITORY / "scripts" / "packages.sh", "node"], check=True)
        programs = build_programs(["kubelet"])
        self.machine.start()
        try:
            self._start_containerd()
            self.import_image(BUSYBOX, busybox_files())
            self._start_kubelet(programs / "kubelet")
            self.cluster.wait(f"node {self.name}", self.is_ready, READY_DEADLINE_S)
        except BaseException:
            self.stop()
            print(f"node.py: start failed, logs are in {self.directory}")
            raise

    def stop(self):
        self.machine.stop()
        for child in self._children.values():
            child.wait(STOP_DEADLINE_S)
        self._children = {}

    def is_ready(self):
        status, body = self.cluster.get(f"/api/v1/nodes/{self.name}")
        conditions = json.loads(body)["status"].get("conditions", []) if status == 200 else []
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def spawn(self, name, arguments, **options):
        """Starts a program on the machine; its output goes to NAME.log."""
        with open(self.directory / f"{name}.log", "ab") as log:
            self._children[name] = subprocess.Popen(
                self.machine.command(arguments), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **options)
        return self._children[name]

    def import_image(self, name, files, **options):
        archive = self.directory / "image.tar"
        write_image(archive, name, files, **options)
        self._run("ctr", "--namespace=k8s.io", "images", "import", "--all-platforms", archive)
        archive.unlink()

    def _run(self, *arguments):
        done = self.machine.run(arguments)
        if done.returncode != 0:
            raise ClusterError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def _start_containerd(self):
        config = self.directory / "containerd.toml"
        config.write_text(CONTAINERD_TOML)
        network = self.directory / "root" / "etc" / "cni" / "net.d" / "10-pods.conflist"
        network.parent.mkdir(parents=True)
        network.write_text(json.dumps(NETWORK))
        containerd = self.spawn("containerd", ["containerd", f"--config={config}"])

        def serves():
            if containerd.poll() is not None:
                raise ClusterError(f"containerd ended\n{self.log('containerd')}")
            return self.machine.run(["ctr", "version"]).returncode == 0
        self.cluster.wait("containerd", serves)

    def _start_kubelet(self, program):
        d, keys = self.directory, self.cluster.directory
        make_certificate(keys, "kubelet", f"/O=system:nodes/CN=system:node:{self.name}",
                         f"subjectAltName=IP:{ADDRESS},DNS:{self.name}", signed=True)
        kubeconfig = self.cluster.write_kubeconfig(keys / "kubelet.kubeconfig", {
            "client-certificate": str(keys / "kubelet.crt"),
            "client-key": str(keys / "kubelet.key")})
        config = d / "kubelet.json"
        config.write_text(json.dumps(kubelet_configuration(keys, self.kubelet_port)))
        self.kubelet = self.spawn("kubelet", [
            program, f"--config={config}", f"--kubeconfig={kubeconfig}",
            f"--hostname-override={self.name}", "--v=2"])

    def log(self, name):
        lines = (self.directory / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-20:])


def kubelet_configuration(keys, port):
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": ADDRESS, "port": port, "healthzPort": 0,
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": f"{keys}/ca.crt"}},
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{keys}/kubelet.crt", "tlsPrivateKeyFile": f"{keys}/kubelet.key",
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "cgroupDriver": "cgroupfs", "failCgroupV1": False, "failSwapOn": False,
        # Nothing of the host is to be changed, and nothing lowered that only a mightier root may.
        "makeIPTablesUtilChains": False, "oomScoreAdj": 0,
        # A full disk is not what is tested here.
        "evictionHard": {"memory.available": "100Mi"}, "imageGCHighThresholdPercent": 100,
        "resolvConf": "",
        "shutdownGracePeriod": "0s",
    }


# Pods get a link to the host each, and no way from there.
NETWORK = {
    "cniVersion": "0.4.0", "name": "pods",
    "plugins": [{"type": "ptp", "ipam": {"type": "host-local", "subnet": "10.244.0.0/24"}}],
}

# restrict_oom_score_adj: nothing is lowered here either.
CONTAINERD_TOML = f"""\
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{BUSYBOX}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_PLUGINS}"
"""
