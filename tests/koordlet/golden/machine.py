"""The image of a machine: a directory that holds what its kernel and its kubelet have made.

Nothing here comes from koordlet: the files are those that Linux documents and their first contents
are what the kubelet and the runtime write.
"""

import itertools
import pathlib

PERIOD = 100_000
NO_LIMIT_V1 = "9223372036854771712"
V1_SUBSYSTEMS = ("cpu", "cpuset", "cpuacct", "memory", "blkio", "net_cls")


class Shape:
    """Twelve cores on so many NUMA nodes; nodes 3 and 4 of the largest machine are of a second socket."""

    CORES = 12

    def __init__(self, numa_nodes, smt):
        self.numa_nodes = numa_nodes
        self.smt = smt
        self.sockets = {1: 1, 2: 2, 3: 1, 4: 2}[numa_nodes]
        self.cpus = []  # (cpu, core, socket, node)
        for thread, core in itertools.product(range(2 if smt else 1), range(self.CORES)):
            self.cpus.append((core + thread * self.CORES, core, core * self.sockets // self.CORES,
                              core * numa_nodes // self.CORES))

    def all(self):
        return sorted(cpu for cpu, *_ in self.cpus)

    def of_node(self, node):
        return sorted(cpu for cpu, _, _, of in self.cpus if of == node)

    def cache_ids(self, amd):
        # One cache for each NUMA node; those of AMD are not numbered without gaps.
        return [4 * node if amd else node for node in range(self.numa_nodes)]


class Layout:
    def __init__(self, version, driver):
        self.version = version
        self.driver = driver

    def qos_dir(self, qos):
        systemd = self.driver == "systemd"
        top = "kubepods.slice" if systemd else "kubepods"
        if qos == "Guaranteed":
            return top
        return f"{top}/kubepods-{qos.lower()}.slice" if systemd else f"{top}/{qos.lower()}"

    def pod_dir(self, pod):
        above = self.qos_dir(pod.kube_qos)
        if self.driver != "systemd":
            return f"{above}/pod{pod.uid}"
        middle = "" if pod.kube_qos == "Guaranteed" else f"-{pod.kube_qos.lower()}"
        return f"{above}/kubepods{middle}-pod{pod.uid.replace('-', '_')}.slice"

    def container_dir(self, pod, container_id):
        name = f"cri-containerd-{container_id}.scope" if self.driver == "systemd" else container_id
        return f"{self.pod_dir(pod)}/{name}"

    def path(self, subsystem, directory, name):
        parts = ["sys/fs/cgroup"]
        if self.version == 1:
            parts.append(subsystem)
        if directory:
            parts.append(directory)
        return "/".join(parts + [name])


def cpu_list(cpus):
    """The kernel's way of writing a set: "0-2,5"."""
    ranges = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def shares_of(milli):
    return min(max(milli * 1024 // 1000, 2), 262144) if milli > 0 else 2


def weight_of(shares):
    return 1 + (shares - 2) * 9999 // 262142


def quota_of(milli):
    return max(milli * PERIOD // 1000, 1000) if milli > 0 else -1


class Image:
    """The files by their paths; `write` puts them below a directory."""

    def __init__(self, shape, layout, amd, anolis, memory):
        self.shape, self.layout, self.amd, self.anolis, self.memory = (shape, layout, amd, anolis,
                                                                       memory)
        self.files = {}
        if layout.version == 2:
            self.files["sys/fs/cgroup/cgroup.controllers"] = "cpuset cpu io memory hugetlb pids\n"
        self._fill_hardware()
        self._fill_sysctls()
        self._fill_resctrl()
        self.add_cgroup("", top=True)

    def set(self, path, text):
        self.files[path] = f"{text}\n"

    def write(self, directory):
        for path, text in self.files.items():
            file = pathlib.Path(directory, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def _fill_hardware(self):
        cpu_dir = "sys/devices/system/cpu"
        for cpu, core, socket, node in self.shape.cpus:
            per_socket = self.shape.CORES // self.shape.sockets
            self.set(f"{cpu_dir}/cpu{cpu}/topology/core_id", core % per_socket)
            self.set(f"{cpu_dir}/cpu{cpu}/topology/physical_package_id", socket)
            siblings = [c for c, other, *_ in self.shape.cpus if other == core]
            self.set(f"{cpu_dir}/cpu{cpu}/topology/thread_siblings_list", cpu_list(siblings))
            for level in (1, 2, 3):
                of = self.shape.of_node(node) if level == 3 else siblings
                ident = self.shape.cache_ids(self.amd)[node] if level == 3 else core
                cache = f"{cpu_dir}/cpu{cpu}/cache/index{level}"
                self.set(f"{cache}/level", level)
                self.set(f"{cache}/id", ident)
                self.set(f"{cache}/shared_cpu_list", cpu_list(of))
        self.set(f"{cpu_dir}/online", cpu_list(self.shape.all()))
        self.set(f"{cpu_dir}/smt/active", 1 if self.shape.smt else 0)
        kilobytes = self.memory // 1024
        info = "MemTotal: {0} kB\nMemFree: {0} kB\nMemAvailable: {0} kB"
        for node in range(self.shape.numa_nodes):
            of_node = f"sys/devices/system/node/node{node}"
            self.set(f"{of_node}/cpulist", cpu_list(self.shape.of_node(node)))
            share = kilobytes // self.shape.numa_nodes
            self.set(f"{of_node}/meminfo", "\n".join(
                f"Node {node} {name}: {amount} kB" for name, amount in
                (("MemTotal", share), ("MemFree", share), ("Active(file)", 0),
                 ("Inactive(file)", 0), ("SReclaimable", 0))))
        self.set("proc/meminfo", info.format(kilobytes))
        self.set("proc/stat", "\n".join(["cpu 0 0 0 0 0 0 0 0 0 0"] + [
            f"cpu{cpu} 0 0 0 0 0 0 0 0 0 0" for cpu in self.shape.all()]))
        vendor = "AuthenticAMD" if self.amd else "GenuineIntel"
        self.set("proc/cpuinfo", "\n".join(
            f"processor\t: {cpu}\nvendor_id\t: {vendor}\nmodel name\t: test\n"
            "flags\t\t: fpu sse cat_l3 mba cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local\n"
            for cpu in self.shape.all()))
        self.set("proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                 "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000")
        # Two disks, the second with a partition.
        for name, number in (("vda", "253:0"), ("vdb", "253:16")):
            self.set(f"sys/class/block/{name}/dev", number)
        self.set("sys/class/block/vdb1/dev", "253:17")
        self.set("sys/class/block/vdb1/partition", 1)

    def _fill_sysctls(self):
        self.set("proc/sys/vm/min_free_kbytes", 67584)
        self.set("proc/sys/vm/watermark_scale_factor", 10)
        if self.anolis:
            self.set("proc/sys/kernel/sched_group_identity_enabled", 0)
            self.set("proc/sys/kernel/sched_core", 0)
            self.set("proc/sys/kernel/sched_idle_saver_wmark", 0)
            self.set("sys/kernel/mm/memcg_reaper/reap_background", 0)
            self.set("sys/kernel/mm/pagecache_limit/enabled", 0)
        self.set("sys/kernel/debug/sched_features", "GENTLE_FAIR_SLEEPERS NO_HRTICK LB_BIAS")

    CBM = 0xfffff

    def schemata(self):
        caches = self.shape.cache_ids(self.amd)
        full = 2048 if self.amd else 100
        return ("L3:" + ";".join(f"{c}={self.CBM:x}" for c in caches) + "\n"
                "MB:" + ";".join(f"{c}={full}" for c in caches))

    def _fill_resctrl(self):
        self.set("sys/fs/resctrl/info/L3/cbm_mask", f"{self.CBM:x}")
        self.set("sys/fs/resctrl/schemata", self.schemata())
        self.set("sys/fs/resctrl/tasks", "")

    def add_resctrl_group(self, name):
        """In a directory nobody fills new groups, as the kernel would."""
        self.set(f"sys/fs/resctrl/{name}/schemata", self.schemata())
        self.files[f"sys/fs/resctrl/{name}/tasks"] = ""

    def _group_files(self, top):
        v1 = self.layout.version == 1
        nodes = "".join(f" N{i}=0" for i in range(self.shape.numa_nodes))
        all_cpus = cpu_list(self.shape.all())
        pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"
        if v1:
            yield "cpu", "cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0"
            yield "cpu", "cpu.shares", 1024
            yield "cpu", "cpu.cfs_quota_us", -1
            yield "cpu", "cpu.cfs_period_us", PERIOD
            yield "cpu", "cpu.cfs_burst_us", 0
            yield "cpu", "cpu.idle", 0
            yield "cpu", "tasks", ""
            yield "cpu", "cgroup.procs", ""
            yield "cpuset", "cpuset.cpus", all_cpus
            yield "cpuacct", "cpuacct.usage", 0
            yield "memory", "memory.limit_in_bytes", NO_LIMIT_V1
            yield "memory", "memory.usage_in_bytes", 0
            yield "memory", "memory.stat", "\n".join(
                f"total_{name} 0" for name in ("cache", "rss", "inactive_anon", "active_anon",
                                               "inactive_file", "active_file", "unevictable"))
            yield "memory", "memory.numa_stat", f"total=0{nodes}"
            for kind in ("read_iops", "read_bps", "write_iops", "write_bps"):
                yield "blkio", f"blkio.throttle.{kind}_device", ""
            yield "net_cls", "net_cls.classid", 0
        else:
            yield "", "cpu.stat", "usage_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0"
            yield "", "cpu.weight", 100
            yield "", "cpu.max", f"max {PERIOD}"
            yield "", "cpu.max.burst", 0
            yield "", "cpu.idle", 0
            yield "", "cgroup.threads", ""
            yield "", "cgroup.procs", ""
            yield "", "cpuset.cpus", ""
            yield "", "cpuset.cpus.effective", all_cpus
            yield "", "memory.max", "max"
            yield "", "memory.current", 0
            yield "", "memory.stat", "\n".join(
                f"{name} 0" for name in ("anon", "file", "inactive_anon", "active_anon",
                                         "inactive_file", "active_file", "unevictable"))
            yield "", "memory.numa_stat", f"anon{nodes}\nfile{nodes}"
            yield "", "memory.min", 0
            yield "", "memory.low", 0
            yield "", "memory.high", "max"
            yield "", "memory.oom.group", 0
            for kind in ("cpu", "memory", "io"):
                yield "", f"{kind}.pressure", pressure
        if not self.anolis:
            return
        memory = "memory" if v1 else ""
        yield "cpu" if v1 else "", "cpu.bvt_warp_ns", 0
        yield memory, "memory.wmark_ratio", 0
        yield memory, "memory.wmark_scale_factor", 50
        yield memory, "memory.wmark_min_adj", 0
        yield memory, "memory.priority", 0
        yield memory, "memory.use_priority_oom", 0
        if v1:
            yield "memory", "memory.min", 0
            yield "memory", "memory.low", 0
            yield "memory", "memory.high", "max"
            yield "memory", "memory.oom.group", 0
            yield "blkio", "blkio.cost.weight", "default 100"
            if top:
                yield "blkio", "blkio.cost.qos", ""
                yield "blkio", "blkio.cost.model", ""
        else:
            for name in ("enable", "size", "sync"):
                yield "", f"memory.pagecache_limit.{name}", 0

    def add_cgroup(self, directory, top=False):
        for subsystem, name, text in self._group_files(top):
            path = self.layout.path(subsystem, directory, name)
            if text == "":
                self.files[path] = ""
            else:
                self.set(path, text)

    def set_cgroup(self, subsystem, directory, name, text):
        path = self.layout.path(subsystem, directory, name)
        if path in self.files:
            self.set(path, text)

    def set_cpu(self, directory, milli_request, milli_limit):
        v1 = self.layout.version == 1
        shares = shares_of(milli_request)
        quota = quota_of(milli_limit)
        if v1:
            self.set_cgroup("cpu", directory, "cpu.shares", shares)
        else:
            self.set_cgroup("", directory, "cpu.weight", weight_of(shares))
        if quota > 0:
            self.set_quota(directory, quota)

    def set_quota(self, directory, quota):
        if self.layout.version == 1:
            self.set_cgroup("cpu", directory, "cpu.cfs_quota_us", quota)
        else:
            self.set_cgroup("", directory, "cpu.max", f"{quota} {PERIOD}")

    def set_memory_limit(self, directory, limit):
        if limit > 0:
            name = "memory.limit_in_bytes" if self.layout.version == 1 else "memory.max"
            self.set_cgroup("memory", directory, name, limit)

    def set_cpuset(self, directory, cpus):
        self.set_cgroup("cpuset", directory, "cpuset.cpus", cpu_list(cpus))
        self.set_cgroup("cpuset", directory, "cpuset.cpus.effective", cpu_list(cpus))

    def set_processes(self, directory, pids):
        text = "\n".join(str(pid) for pid in pids)
        threads = "tasks" if self.layout.version == 1 else "cgroup.threads"
        self.set_cgroup("cpu", directory, "cgroup.procs", text)
        self.set_cgroup("cpu", directory, threads, text)
        for pid in pids:
            self.set(f"proc/{pid}/oom_score_adj", 0)

    def add_pod(self, pod):
        directory = self.layout.pod_dir(pod)
        self.add_cgroup(directory)
        containers = pod.containers
        limited = all(c.cpu_limit for c in containers)
        self.set_cpu(directory, sum(c.cpu_request for c in containers),
                     sum(c.cpu_limit for c in containers) if limited else 0)
        if all(c.memory_limit for c in containers):
            self.set_memory_limit(directory, sum(c.memory_limit for c in containers))
        sandbox = self.layout.container_dir(pod, pod.sandbox_id)
        self.add_cgroup(sandbox)
        self.set_cpu(sandbox, 0, 0)
        self.set_processes(sandbox, [pod.sandbox_pid])
        for container in containers:
            of_container = self.layout.container_dir(pod, container.id)
            self.add_cgroup(of_container)
            self.set_cpu(of_container, container.cpu_request, container.cpu_limit)
            self.set_memory_limit(of_container, container.memory_limit)
            self.set_processes(of_container, container.pids)
