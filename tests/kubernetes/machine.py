"""A machine for a real kubelet: namespaces and control groups of its own on this one.

Processes on it see their own process ids, mounts and control groups, and this machine's network
and kernel. Its first process is `machine.py init`, which sets up the mounts and reaps; when that
ends, the kernel ends everything else on the machine, and the mounts go with the last process. What
programs keep at well-known places (/var/lib/kubelet, /run/containerd, ...) is in `directory`.

    with Machine(directory) as machine:
        machine.run(["ctr", "version"])

Needs root, and control groups of version 1, each mounted at /sys/fs/cgroup/NAME.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

CGROUPS = pathlib.Path("/sys/fs/cgroup")
NAMESPACES = ["--mount", "--pid", "--cgroup"]
DEADLINE_S = 240
# Where programs keep their state; the machine has its own.
DIRECTORIES = ["/var/lib/kubelet", "/var/lib/containerd", "/var/lib/cni", "/run/containerd",
               "/etc/cni", "/run/netns", "/var/log/pods", "/var/log/containers", "/run/koordlet",
               "/var/log/koordlet", "/etc/runtime"]
# Settings of the kernel that the kubelet and CNI plugins write: they write to files instead.
SETTINGS = ["vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
            "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward"]
READY = "machine is ready"


class MachineError(Exception):
    pass


class Machine:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory).absolute()
        self.name = self.directory.name
        self._unshare = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        why = why_impossible()
        if why:
            raise MachineError(why)
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_mount_points(self.directory)
        for hierarchy in hierarchies():
            make_cgroup(hierarchy / self.name)
        with open(self.directory / "machine.log", "wb") as log:
            self._unshare = subprocess.Popen(
                ["sh", "-c", ENTER_CGROUPS, "sh", self.name, "unshare", *NAMESPACES, "--fork",
                 "--kill-child", "--mount-proc", "--propagation", "private", sys.executable,
                 __file__, "init", self.directory],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                start_new_session=True)
        if self._unshare.stdout.readline().strip() != READY:
            log = (self.directory / "machine.log").read_text()
            self.stop()
            raise MachineError(f"the machine did not start\n{log}")
        self.pid = first_child(self._unshare.pid)
        (self.directory / "machine.pid").write_text(f"{self.pid}\n")

    def stop(self):
        """Ends everything on the machine, and removes its control groups."""
        if self._unshare:
            stop_machine(self.directory)
            self._unshare.kill()
            self._unshare.wait()
            self._unshare.stdout.close()
            self._unshare = None
        remove_cgroups(self.name)
        remove_mount_points(self.directory)

    def command(self, arguments):
        """The command that runs `arguments` on the machine."""
        return ["sh", "-c", ENTER_CGROUPS, "sh", self.name, "nsenter", f"--target={self.pid}",
                *NAMESPACES, "--", *map(str, arguments)]

    def run(self, arguments, **options):
        return subprocess.run(self.command(arguments), text=True, capture_output=True, **options)

    def cgroup(self, controller, path=""):
        """The machine's control group `path`, as this side sees it."""
        return CGROUPS / controller / self.name / path


# Goes through each hierarchy, then becomes the command.
ENTER_CGROUPS = """
for dir in /sys/fs/cgroup/*/"$1"; do echo $$ >"$dir/cgroup.procs" || exit 1; done
shift
exec "$@"
"""


def why_impossible():
    """Why there can be no machine here, or None."""
    if os.geteuid() != 0:
        return "namespaces and control groups need root"
    if not (CGROUPS / "cpu" / "cgroup.procs").exists():
        return f"there are no control groups of version 1 in {CGROUPS}"
    return None


def hierarchies():
    return sorted({mount for mount in CGROUPS.iterdir()
                   if mount.is_dir() and (mount / "cgroup.procs").exists()})


def make_cgroup(path):
    path.mkdir()
    parent = path.parent
    for file in ("cpuset.cpus", "cpuset.mems"):
        if (parent / file).exists():
            (path / file).write_text((parent / file).read_text())


def remove_cgroups(name):
    """Removes the control groups of the machine `name`, and ends what is left in them.

    Its last processes may still be ending. Those that entered it from this side do not end with it
    while they are stopped: nsenter stops itself when the program that it waits for is stopped.
    """
    deadline = time.monotonic() + DEADLINE_S
    for hierarchy in hierarchies():
        groups = [folder for folder, _, _ in os.walk(hierarchy / name, topdown=False)]
        for group in groups:
            while True:
                try:
                    os.rmdir(group)
                    break
                except FileNotFoundError:
                    break
                except OSError as error:
                    if time.monotonic() > deadline:
                        raise MachineError(f"cannot remove {group}: {error}") from error
                    kill_all(group)
                    time.sleep(0.05)


def kill_all(group):
    for pid in (pathlib.Path(group) / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def stop_machine(directory):
    """Kills the machine's first process, and with it all others."""
    pid_file = directory / "machine.pid"
    if not pid_file.exists():
        return
    pid = int(pid_file.read_text())
    deadline = time.monotonic() + DEADLINE_S
    while is_machine(pid, directory):
        os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise MachineError(f"process {pid} does not end")
        time.sleep(0.05)
    pid_file.unlink()


def is_machine(pid, directory):
    try:
        arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return [b"init", str(directory).encode()] == arguments[-3:-1]


def stop_left_over(directory):
    """Stops a machine that another process has started in `directory`."""
    directory = pathlib.Path(directory).absolute()
    stop_machine(directory)
    remove_cgroups(directory.name)
    remove_mount_points(directory)


def make_mount_points(directory):
    """Makes the places that are to be covered, and notes which ones were not there."""
    made = [path for path in DIRECTORIES if not os.path.exists(path)]
    (directory / "made").write_text("\n".join(made))
    for path in made:
        os.makedirs(path)


def remove_mount_points(directory):
    made = directory / "made"
    for path in made.read_text().split() if made.exists() else []:
        try:
            os.rmdir(path)
        except OSError:
            pass  # somebody else uses it since


def first_child(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def mount_cgroups():
    """Mounts the hierarchies of the other side again: this machine's groups are their roots."""
    mounts = re.findall(r"^\S+ /sys/fs/cgroup/(\S+) (cgroup2?) (\S+) ",
                        pathlib.Path("/proc/mounts").read_text(), flags=re.MULTILINE)
    subprocess.run(["umount", "--recursive", CGROUPS], check=True)
    mount("-t", "tmpfs", "tmpfs", CGROUPS)
    for name, kind, options in mounts:
        (CGROUPS / name).mkdir()
        options = [o for o in options.split(",") if o not in ("rw", "relatime", "nosuid",
                                                             "nodev", "noexec")]
        mount("-t", kind, *(["-o", ",".join(options)] if options else []), kind, CGROUPS / name)


def cover(directory):
    for path in DIRECTORIES:
        own = directory / "root" / path.lstrip("/")
        own.mkdir(parents=True, exist_ok=True)
        mount("--bind", own, path)
    for setting in SETTINGS:
        path, own = pathlib.Path("/proc/sys") / setting, directory / "root" / "proc-sys" / setting
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(path.read_text())
        mount("--bind", own, path)


def init(directory):
    mount("--make-rshared", "/")
    mount_cgroups()
    cover(pathlib.Path(directory))
    print(READY, flush=True)
    while True:  # until killed; children are those whose parents have ended
        try:
            os.wait()
        except ChildProcessError:
            signal.sigtimedwait([signal.SIGCHLD], 1)


if __name__ == "__main__":
    if sys.argv[1:2] != ["init"]:
        sys.exit("machine.py: is started by node.py")
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    init(sys.argv[2])
