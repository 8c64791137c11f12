#!/usr/bin/env python3
"""A real Kubernetes control plane on 127.0.0.1: etcd and kube-apiserver, with TLS and RBAC.

From a shell:

    tests/kubernetes/cluster.py run -- kubectl get nodes    start, run a command, stop
    tests/kubernetes/cluster.py run --node -- ...           the same, with a real node
    dir=$(tests/kubernetes/cluster.py start)                start; see $dir/kubeconfig
    tests/kubernetes/cluster.py stop "$dir"                 stop, and remove $dir

From Python:

    with Cluster(controller_manager=True) as cluster:
        cluster.kubectl("apply", "-f", "-", input=manifest)

All state (keys, data, logs, process ids) lives in one directory. The programs come from
scripts/kubernetes.sh, which builds what is missing. Unless asked for there is no controller and no
node (see node.py): objects stay as they are written, which is what most tests want.
"""

import argparse
import base64
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from machine import stop_left_over

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
START_DEADLINE_S = 240  # on two busy cores; an idle machine needs about five seconds
STOP_DEADLINE_S = 20


# What Koordinator's programs write, with bodies, but for the leases that they renew all the time.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "resources": [{"group": "coordination.k8s.io"}]},
              {"level": "Request", "verbs": ["create", "update", "patch", "delete"],
               "userGroups": ["system:serviceaccounts:koordinator-system"]}]}


class ClusterError(Exception):
    pass


class Cluster:
    """One control plane. `directory` is made when absent; without one a temporary is used."""

    def __init__(self, directory=None, controller_manager=False, scheduler=False, arguments=None,
                 audit=False):
        """`arguments` maps a program's name to further flags, which win over those set here."""
        directory = directory or tempfile.mkdtemp(prefix="koord-kubernetes-")
        self.directory = pathlib.Path(directory).absolute()
        self.kubeconfig = self.directory / "kubeconfig"
        self._programs = ["etcd", "kube-apiserver"]
        self._programs += ["kube-controller-manager"] if controller_manager else []
        self._programs += ["kube-scheduler"] if scheduler else []
        self._arguments = arguments or {}
        self._audit = audit
        self._children, self._commands = {}, {}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Returns once the server is ready, or stops everything and raises ClusterError."""
        self.binaries = build_programs(["kubectl", *self._programs])
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.kubeconfig.exists():
            raise ClusterError(f"{self.directory} already holds a cluster")
        etcd_port, etcd_peer_port, self.port = free_ports(3)
        self.server = f"https://127.0.0.1:{self.port}"
        try:
            make_keys(self.directory)
            self._write_admin_kubeconfig()
            self._spawn("etcd", etcd_flags(self.directory, etcd_port, etcd_peer_port))
            self._spawn("kube-apiserver", self._apiserver_flags(etcd_port))
            self.wait("the API server", self.is_ready)
            self._start_controllers()
        except BaseException:
            self.stop(keep=True)
            print(f"cluster.py: start failed, logs are in {self.directory}", file=sys.stderr)
            raise

    def stop(self, keep=False):
        """Ends the processes and, unless `keep`, removes the directory."""
        try:
            stop_nodes(self.directory)
        finally:
            stop_processes(self.directory, self._children)
        if not keep:
            shutil.rmtree(self.directory, ignore_errors=True)

    def kubectl(self, *arguments, input=None, check=True):
        """Runs kubectl as the cluster's administrator; returns the completed process."""
        done = subprocess.run(
            [self.binaries / "kubectl", *arguments], input=input, text=True, capture_output=True,
            env=self.environment())
        if check and done.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done

    def environment(self):
        """What a command needs to find kubectl and, as administrator, this cluster."""
        return {
            **os.environ,
            "KUBECONFIG": str(self.kubeconfig),
            "KOORD_CLUSTER_DIR": str(self.directory),
            # Discovery results of another cluster that had the same port must not be found.
            "KUBECACHEDIR": str(self.directory / "kubectl-cache"),
            "PATH": f"{self.binaries}:{os.environ['PATH']}",
        }

    def connect(self, timeout=60):
        """A connection to the API server as administrator."""
        tls = ssl.create_default_context(cafile=str(self.directory / "ca.crt"))
        tls.load_cert_chain(self.directory / "admin.crt", self.directory / "admin.key")
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=tls)

    def pid(self, program):
        return int((self.directory / f"{program}.pid").read_text())

    def build(self, program):
        """Builds a program that the cluster does not run, beside those that it does."""
        build_programs([program])

    def get(self, path):
        """One GET as administrator: (status, body)."""
        connection = self.connect()
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def read(self, path):
        """The object at the path, {} if there is none: for those who ask often, kubectl is slow."""
        status, body = self.get(path)
        return json.loads(body) if status == 200 else {}

    def _apiserver_flags(self, etcd_port):
        d = self.directory
        flags = [
            f"--etcd-servers=http://127.0.0.1:{etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            # Nobody is inside the cluster network, and a loopback address is no valid endpoint.
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged=true",
            "--authorization-mode=Node,RBAC",
            f"--tls-cert-file={d}/server.crt",
            f"--tls-private-key-file={d}/server.key",
            f"--client-ca-file={d}/ca.crt",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={d}/service-account.key",
            f"--service-account-signing-key-file={d}/service-account.key",
            f"--kubelet-certificate-authority={d}/ca.crt",
            f"--kubelet-client-certificate={d}/admin.crt",
            f"--kubelet-client-key={d}/admin.key",
        ]
        if self._audit:
            (d / "audit-policy.json").write_text(json.dumps(AUDIT_POLICY))
            flags += [f"--audit-policy-file={d}/audit-policy.json",
                      f"--audit-log-path={d}/audit.log"]
        if "kube-controller-manager" not in self._programs:
            # Nobody creates the default service accounts that this would demand of every pod.
            flags.append("--disable-admission-plugins=ServiceAccount")
        return flags

    def _start_controllers(self):
        if "kube-controller-manager" in self._programs:
            d = self.directory
            self._spawn("kube-controller-manager", [
                f"--kubeconfig={self.kubeconfig}",
                "--secure-port=0",
                "--leader-elect=false",
                "--use-service-account-credentials",
                f"--root-ca-file={d}/ca.crt",
                f"--service-account-private-key-file={d}/service-account.key",
                f"--cluster-signing-cert-file={d}/ca.crt",
                f"--cluster-signing-key-file={d}/ca.key",
            ])
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            self.wait("the controller manager", lambda: self.get(account)[0] == 200)
        if "kube-scheduler" in self._programs:
            self._spawn("kube-scheduler", [
                f"--kubeconfig={self.kubeconfig}",
                "--secure-port=0",
                "--leader-elect=false",
            ])

    def writes(self, account):
        """What a service account has written so far, by the audit log: a list of events."""
        lines = (self.directory / "audit.log").read_text().splitlines()
        events = [json.loads(line) for line in lines]
        return [event for event in events if event["user"]["username"].endswith(f":{account}")]

    def kill(self, program):
        """Ends a program as a crash would."""
        pid = self.pid(program)
        os.kill(pid, signal.SIGKILL)
        self._children.pop(pid).wait()

    def restart(self, program):
        """Starts a program again that was killed, as it was started before."""
        self._start(program)

    def _spawn(self, program, flags):
        self._commands[program] = [self.binaries / program, *flags,
                                   *self._arguments.get(program, [])]
        self._start(program)

    def _start(self, program):
        with open(self.directory / f"{program}.log", "ab") as log:
            child = subprocess.Popen(
                self._commands[program], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.directory,
                start_new_session=True)  # a Ctrl-C must not end etcd before the API server
        self._children[child.pid] = child
        (self.directory / f"{program}.pid").write_text(f"{child.pid}\n")

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    def wait(self, what, ready, deadline_s=START_DEADLINE_S):
        """Returns what `ready` does as soon as that is true; raises when it takes too long."""
        deadline = time.monotonic() + deadline_s
        while True:
            try:
                if result := ready():
                    return result
            except (OSError, http.client.HTTPException):
                pass
            self._check_children()
            if time.monotonic() > deadline:
                raise ClusterError(f"{what} is not ready after {deadline_s} s")
            time.sleep(0.1)

    def _check_children(self):
        for child in self._children.values():
            if child.poll() is not None:
                program = pathlib.Path(child.args[0]).name
                status, log = child.returncode, self._log(program)
                raise ClusterError(f"{program} ended with status {status}\n{log}")

    def _log(self, program):
        lines = (self.directory / f"{program}.log").read_text(errors="replace").splitlines()
        return "\n".join(lines[-20:])

    def write_kubeconfig(self, path, user):
        """Writes a kubeconfig of this cluster for `user`, which is as in a kubeconfig."""
        authority = base64.b64encode((self.directory / "ca.crt").read_bytes()).decode()
        name = "koord-test"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "contexts": [{"name": name, "context": {"cluster": name, "user": "user"}}],
            "clusters": [{"name": name, "cluster": {
                "server": self.server, "certificate-authority-data": authority}}],
            "users": [{"name": "user", "user": user}],
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(config, indent=2) + "\n")
        return path

    def _write_admin_kubeconfig(self):
        def data(name):
            return base64.b64encode((self.directory / name).read_bytes()).decode()

        self.write_kubeconfig(self.kubeconfig, {
            "client-certificate-data": data("admin.crt"), "client-key-data": data("admin.key")})

    def write_account_kubeconfig(self, account, namespace):
        """A kubeconfig of the service account, which may do what its roles say and no more."""
        token = self.kubectl("create", "token", account, "-n", namespace).stdout.strip()
        return self.write_kubeconfig(
            self.directory / f"{account}.kubeconfig", {"token": token})


def build_programs(programs):
    """The directory that holds `programs`, built if need be."""
    script = REPOSITORY / "scripts" / "kubernetes.sh"
    done = subprocess.run([script, *programs], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise ClusterError(f"{script.name} failed")
    return pathlib.Path(done.stdout.strip())


def etcd_flags(directory, port, peer_port):
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        f"--data-dir={directory}/etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",  # the data need not survive the test
    ]


def make_keys(directory):
    """Writes the CA, a server certificate, an administrator's, and the service account key."""
    make_certificate(directory, "ca", "/CN=koord-test-ca", "basicConstraints=critical,CA:TRUE")
    make_certificate(directory, "server", "/CN=kube-apiserver",
                     "subjectAltName=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1",
                     signed=True)
    make_certificate(directory, "admin", "/O=system:masters/CN=admin",
                     "extendedKeyUsage=clientAuth", signed=True)
    # Not genpkey: of a PKCS#8 file the API server reads RSA keys only.
    openssl(directory, "ecparam", "-genkey", "-noout", "-name", "prime256v1",
            "-out", "service-account.key")


def make_certificate(directory, name, subject, extension, signed=False):
    issuer = ["-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "basicConstraints=CA:FALSE"]
    # An own, empty configuration: the system's may add extensions that contradict ours.
    (directory / "openssl.cnf").write_text("[req]\ndistinguished_name = subject\n[subject]\n")
    openssl(directory, "req", "-x509", "-config", "openssl.cnf", "-newkey", "ec",
            "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", subject,
            "-addext", extension, *(issuer if signed else []),
            "-keyout", f"{name}.key", "-out", f"{name}.crt")


def openssl(directory, *arguments):
    done = subprocess.run(["openssl", *arguments], cwd=directory, text=True, capture_output=True)
    if done.returncode != 0:
        raise ClusterError(f"openssl {arguments[0]}: {done.stderr.strip()}")


def free_ports(count):
    """Ports below the range of outgoing connections, so that none of those can take one first."""
    ports = set()
    while len(ports) < count:
        port = random.randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                ports.add(port)
            except OSError:
                pass
    return list(ports)


def stop_processes(directory, children=None):
    """Ends what runs on `directory`, last started first."""
    for program in ["kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"]:
        pid_file = directory / f"{program}.pid"
        if not pid_file.exists():
            continue
        pid = int(pid_file.read_text())
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if not running(pid, program):
                break
            os.kill(pid, sent)
            deadline = time.monotonic() + STOP_DEADLINE_S
            while running(pid, program) and time.monotonic() < deadline:
                time.sleep(0.02)
        if children and pid in children:
            children.pop(pid).wait()
        pid_file.unlink()


def stop_nodes(directory):
    for node in directory.glob("node-*"):
        stop_left_over(node)


def running(pid, program):
    """Whether `pid` still is `program`: the number may have been given to somebody else since."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == program
    except OSError:  # gone, or a zombie, which has no /proc/PID/exe
        return False


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="start, print the directory, leave it running")
    run = commands.add_parser("run", help="start, run a command with KUBECONFIG set, stop")
    for p in (start, run):
        p.add_argument("--dir", help="where the state goes, default a temporary directory")
        p.add_argument("--controller-manager", action="store_true")
        p.add_argument("--scheduler", action="store_true")
        p.add_argument("--node", action="store_true", help="a kubelet, with a controller manager")
        p.add_argument("--flag", action="append", default=[], metavar="PROGRAM:FLAG",
                       help="a further flag, as in kube-apiserver:--v=4; may be repeated")
    run.add_argument("run", nargs="+", metavar="COMMAND", help="after a --")
    stop = commands.add_parser("stop", help="end the processes, remove the directory")
    stop.add_argument("dir")
    return parser.parse_args(arguments)


def main(arguments):
    from node import Node  # which is built on this module

    options = parse(arguments)
    if options.command == "stop":
        directory = pathlib.Path(options.dir)
        if not (directory / "kubeconfig").exists():
            raise ClusterError(f"{directory} holds no cluster")
        stop_nodes(directory)
        stop_processes(directory)
        shutil.rmtree(directory)
        return 0
    flags = {}
    for flag in options.flag:
        program, _, value = flag.partition(":")
        flags.setdefault(program, []).append(value)
    cluster = Cluster(options.dir, options.controller_manager or options.node, options.scheduler,
                      flags)
    with contextlib.ExitStack() as running:
        running.enter_context(cluster)
        if options.node:
            running.enter_context(Node(cluster))
        if options.command == "start":
            running.pop_all()
            print(cluster.directory)
            return 0
        return subprocess.run(options.run, env=cluster.environment()).returncode


def exit_on_sigterm():
    """Makes SIGTERM unwind, so that `with Cluster()` stops what it started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


if __name__ == "__main__":
    exit_on_sigterm()
    try:
        sys.exit(main(sys.argv[1:]))
    except ClusterError as error:
        sys.exit(f"cluster.py: {error}")
