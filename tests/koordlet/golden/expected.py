"""What every file of the golden machine holds after one pass of koordlet."""

from golden import formulas as rules
from golden.machine import cpu_list, quota_of, shares_of, weight_of

NONE_MEMORY = {"minLimitPercent": 0, "lowLimitPercent": 0, "throttlingPercent": 0,
               "wmarkRatio": 0, "wmarkScalePermill": 50, "wmarkMinAdj": 0,
               "priorityEnable": 0, "priority": 0, "oomKillGroup": 0}
RECLAIM = {"LSR": (95, 20, -25), "LS": (95, 20, -25), "BE": (95, 20, 50), "SYSTEM": (0, 50, 0)}
TC_MINOR = {"SYSTEM": 2, "LSE": 3, "LSR": 3, "LS": 3, "BE": 4}
HOST_APPS = {"LS": "host-latency-sensitive/nginx", "BE": "host-best-effort/logs"}


class Expected:
    """Starts from what the kubelet has left and applies the rules one by one."""

    def __init__(self, image, pods, scenario):
        self.image, self.pods, self.scenario = image, pods, scenario
        self.layout, self.shape = image.layout, image.shape
        self.v1 = self.layout.version == 1
        self.files = dict(image.files)
        self.schemata = {}  # lines by group
        self.tasks = {}  # thread ids by group
        self._cpus_of_node()
        self._cpuset_hook()
        self._batch_hook()
        self._group_identity()
        self._core_sched()
        self._oom_scores()
        self._normalization()
        self._network_classes()
        self._suppress()
        self._burst()
        self._memory_qos()
        self._blkio()
        self._resctrl()
        self._system_config()

    # Helpers -------------------------------------------------------------------------------------

    def put(self, subsystem, directory, name, value):
        """Files that the kernel does not have are left out."""
        path = self.layout.path(subsystem, directory, name)
        if path in self.files:
            self.files[path] = f"{value}\n"

    def put_plain(self, path, value):
        if path in self.files:
            self.files[path] = f"{value}\n"

    def put_quota(self, directory, quota):
        if self.v1:
            self.put("cpu", directory, "cpu.cfs_quota_us", quota)
        else:
            self.put("", directory, "cpu.max", f"{'max' if quota < 0 else quota} 100000")

    def put_shares(self, directory, milli):
        shares = shares_of(milli)
        self.put("cpu", directory, "cpu.shares" if self.v1 else "cpu.weight",
                 shares if self.v1 else weight_of(shares))

    def put_memory_limit(self, directory, limit):
        if self.v1:
            self.put("memory", directory, "memory.limit_in_bytes", limit)
        else:
            self.put("", directory, "memory.max", "max" if limit < 0 else limit)

    def put_cpus(self, directory, cpus):
        self.put("cpuset", directory, "cpuset.cpus", cpu_list(cpus))

    def pod_dir(self, pod):
        return self.layout.pod_dir(pod)

    def dir_of(self, pod, container):
        return self.layout.container_dir(pod, container.id)

    def sandbox_dir(self, pod):
        return self.layout.container_dir(pod, pod.sandbox_id)

    def group_dirs(self, pod):
        return [self.sandbox_dir(pod)] + [self.dir_of(pod, c) for c in pod.containers]

    # CPUs ----------------------------------------------------------------------------------------

    def _cpus_of_node(self):
        scenario = self.scenario
        self.static = set(scenario.kubelet_cpus)  # given out by the kubelet
        self.kept = {scenario.reserved_cpu} | {scenario.system_cpu}
        pinned = set().union(*(rules.parse_cpus(p.cpuset) for p in self.pods))
        free = set(self.shape.all()) - self.static - pinned - self.kept
        self.ls_pool = {node: free & set(self.shape.of_node(node))
                        for node in range(self.shape.numa_nodes)}
        self.lsr = set().union(*(rules.parse_cpus(p.cpuset) for p in self.pods if p.qos == "LSR"))
        self.lse = set().union(*(rules.parse_cpus(p.cpuset) for p in self.pods if p.qos == "LSE"))

    def _cpus_of_pod(self, pod):
        everything = set().union(*self.ls_pool.values())
        if pod.cpuset:
            return rules.parse_cpus(pod.cpuset)
        if pod.numa_nodes and pod.label != "BE":
            return set().union(*(self.ls_pool[node] for node in pod.numa_nodes))
        if pod.label == "SYSTEM":
            return {self.scenario.system_cpu}
        if pod.label == "LS":
            return everything
        if pod.kube_qos == "BestEffort" or self.scenario.kubelet_static:
            return None
        return everything

    def _cpuset_hook(self):
        for pod in self.pods:
            cpus = self._cpus_of_pod(pod)
            if cpus:  # the kernel has no empty sets
                for directory in self.group_dirs(pod):
                    self.put_cpus(directory, cpus)
            if pod.cpuset:
                for directory in [self.pod_dir(pod)] + self.group_dirs(pod):
                    self.put_quota(directory, -1)
        self.put_cpus(HOST_APPS["LS"], set().union(*self.ls_pool.values()))

    # Hooks ---------------------------------------------------------------------------------------

    def _batch_hook(self):
        by_quota = self.scenario.suppress_policy == "cfsQuota"

        def quota(limit):
            if by_quota or not limit:
                return -1
            return rules.normalized(quota_of(limit), self.scenario.ratio)

        for pod in self.pods:
            if pod.label != "BE":
                continue
            members = pod.containers
            cpu_limits = [c.batch_cpu[1] for c in members]
            memory_limits = [c.batch_memory[1] for c in members]
            directory = self.pod_dir(pod)
            self.put_shares(directory, sum(c.batch_cpu[0] for c in members))
            self.put_quota(directory, quota(sum(cpu_limits) if all(cpu_limits) else 0))
            self.put_memory_limit(directory, sum(memory_limits) if all(memory_limits) else -1)
            for container in members:
                directory = self.dir_of(pod, container)
                self.put_shares(directory, container.batch_cpu[0])
                self.put_quota(directory, quota(container.batch_cpu[1]))
                self.put_memory_limit(directory, container.batch_memory[1] or -1)

    def _group_identity(self):
        values = {"LSR": 2, "LS": 2, "BE": -1}
        if self.scenario.cpu_policy != "groupIdentity":
            values = dict.fromkeys(values, 0)
        elif self.image.anolis:
            self.put_plain("proc/sys/kernel/sched_core", 0)
            self.put_plain("proc/sys/kernel/sched_group_identity_enabled", 1)
        for qos, value in (("Guaranteed", 0), ("Burstable", values["LS"]),
                           ("BestEffort", values["BE"])):
            self.put("cpu", self.layout.qos_dir(qos), "cpu.bvt_warp_ns", value)
        for qos, directory in HOST_APPS.items():
            self.put("cpu", directory, "cpu.bvt_warp_ns", values[qos])
        for pod in self.pods:
            by_kube = {"Guaranteed": "LSR", "Burstable": "LS", "BestEffort": "BE"}
            of_class = {"LSE": "LSR", "SYSTEM": ""}.get(pod.label, pod.label)
            value = values[of_class or by_kube[pod.kube_qos]]
            if pod.name == "burst" and self.scenario.cpu_policy == "groupIdentity":
                value = -1  # by its own annotation
            for directory in [self.pod_dir(pod)] + self.group_dirs(pod):
                self.put("cpu", directory, "cpu.bvt_warp_ns", value)

    def _core_sched(self):
        if self.scenario.cpu_policy != "coreSched":
            return
        self.put("cpu", self.layout.qos_dir("BestEffort"), "cpu.idle", 1)
        if self.image.anolis:
            self.put_plain("proc/sys/kernel/sched_group_identity_enabled", 0)
            self.put_plain("proc/sys/kernel/sched_core", 1)

    def _oom_scores(self):
        for pod in self.pods:
            if pod.name == "plain":
                for pid in pod.containers[0].pids:
                    self.put_plain(f"proc/{pid}/oom_score_adj", 500)

    def _normalization(self):
        if not self.scenario.ratio:
            return
        for pod in self.pods:
            if pod.label not in ("LS", "") or pod.cpuset:
                continue
            limits = [c.cpu_limit for c in pod.containers]
            if all(limits):
                self.put_quota(self.pod_dir(pod),
                               rules.normalized(quota_of(sum(limits)), self.scenario.ratio))
            for container in pod.containers:
                if container.cpu_limit:
                    self.put_quota(self.dir_of(pod, container), rules.normalized(
                        quota_of(container.cpu_limit), self.scenario.ratio))

    def _network_classes(self):
        for pod in self.pods:
            if pod.label in TC_MINOR:
                self.put("net_cls", self.pod_dir(pod), "net_cls.classid",
                         1 << 16 | TC_MINOR[pod.label])

    # Strategies ----------------------------------------------------------------------------------

    def be_milli(self):
        usage = self.scenario.usage
        cpus = len(self.shape.cpus)
        not_be = sum(p.usage for p in self.pods if p.label != "BE" and p.kube_qos != "BestEffort")
        return rules.be_milli(cpus * 1000, 65, usage.node(self.pods), sum(
            p.usage for p in self.pods), not_be, usage.apps, usage.apps, 1)

    def be_tree(self):
        pods = [p for p in self.pods if p.kube_qos == "BestEffort"]
        return ([self.layout.qos_dir("BestEffort")], [self.pod_dir(p) for p in pods],
                [d for p in pods for d in self.group_dirs(p)])

    def _suppress(self):
        root, pods, containers = self.be_tree()
        everything = set(self.shape.all()) - self.kept - self.lse
        milli = self.be_milli()
        if self.scenario.suppress_policy == "cfsQuota":
            self.put_quota(root[0], rules.be_quota(milli, -1, len(self.shape.cpus)))
            for directory in root + pods + containers:
                self.put_cpus(directory, everything)
            return
        chosen = rules.be_cpus(milli, self.scenario.be_cpus(self.shape), self.shape, self.lsr,
                               self.lse, self.kept)
        above = everything if self.scenario.kubelet_static else chosen
        for directory in root + pods:
            self.put_cpus(directory, above)
        for directory in containers:
            self.put_cpus(directory, chosen)

    def burst_state(self):
        bound = [p for p in self.pods if p.label in ("LSE", "LSR")]
        total = len(self.shape.cpus) - sum(c.cpu_request for p in bound
                                           for c in p.containers) / 1000
        used = self.scenario.usage.node(self.pods) - sum(
            p.usage for p in self.pods if p.label in ("LSE", "LSR", "BE"))
        return rules.node_state(used, total, 50)

    def _burst(self):
        if not self.scenario.burst:
            return
        state = self.burst_state()
        name = "cpu.cfs_burst_us" if self.v1 else "cpu.max.burst"
        for pod in self.pods:
            if pod.label in ("LSE", "LSR", "BE"):
                continue
            percent = 200 if pod.name == "burst" else 1000
            total = delta = 0
            for container in pod.containers:
                directory = self.dir_of(pod, container)
                burst = rules.static_burst(container.cpu_limit, "auto", percent)
                total += burst
                self.put("cpu", directory, name, burst)
                base = quota_of(container.cpu_limit)
                if base < 0:
                    continue
                current = self.scenario.quota(pod, base)
                target = rules.scaled_quota(current, base, "auto", 300, state)
                delta += target - current
                self.put_quota(directory, target)
            self.put("cpu", self.pod_dir(pod), name, total)
            if all(c.cpu_limit for c in pod.containers):
                base = quota_of(sum(c.cpu_limit for c in pod.containers))
                self.put_quota(self.pod_dir(pod), self.scenario.quota(pod, base) + delta)

    def _memory_config(self, pod):
        if pod.name == "burst":  # "auto": the class's defaults, then its own
            ratio, scale, adjust = RECLAIM["LS"]
            return {**NONE_MEMORY, "wmarkRatio": ratio, "wmarkScalePermill": scale,
                    "wmarkMinAdj": adjust, "minLimitPercent": 33}
        return self._class_memory({"LSE": "LSR"}.get(pod.qos, pod.qos))

    def _class_memory(self, qos):
        ratio, scale, adjust = RECLAIM[qos]
        return {**NONE_MEMORY, "wmarkRatio": ratio, "wmarkScalePermill": scale,
                "wmarkMinAdj": adjust, **self.scenario.memory.get(qos, {})}

    def _put_reclaim(self, directory, config):
        self.put("memory", directory, "memory.wmark_ratio", config["wmarkRatio"])
        self.put("memory", directory, "memory.wmark_scale_factor", config["wmarkScalePermill"])
        self.put("memory", directory, "memory.wmark_min_adj", config["wmarkMinAdj"])

    def _put_oom_order(self, directory, config):
        self.put("memory", directory, "memory.priority", config["priority"])
        self.put("memory", directory, "memory.use_priority_oom", config["priorityEnable"])
        self.put("memory", directory, "memory.oom.group", config["oomKillGroup"])

    def _memory_qos(self):
        sums = {qos: [0, 0] for qos in ("Guaranteed", "Burstable", "BestEffort")}
        for pod in self.pods:
            config = self._memory_config(pod)
            directory = self.pod_dir(pod)
            request = sum(c.memory(pod.is_be)[0] for c in pod.containers)
            least = rules.protected(request, config["minLimitPercent"])
            low = rules.protected(request, config["lowLimitPercent"])
            sums[pod.kube_qos][0] += least
            sums[pod.kube_qos][1] += low
            self.put("memory", directory, "memory.min", least)
            self.put("memory", directory, "memory.low", max(low, least) if low else 0)
            self._put_reclaim(directory, config)
            self._put_oom_order(directory, config)
            self._put_page_cache(pod, directory, config)
            for container in pod.containers:
                self._memory_of_container(pod, container, config)
        total = [sum(of[i] for of in sums.values()) for i in range(2)]
        for qos, of_class, (least, low) in (("Guaranteed", "LSR", total),
                                            ("Burstable", "LS", sums["Burstable"]),
                                            ("BestEffort", "BE", sums["BestEffort"])):
            directory = self.layout.qos_dir(qos)
            self.put("memory", directory, "memory.min", least)
            self.put("memory", directory, "memory.low", low)
            self._put_oom_order(directory, self._class_memory(of_class))

    def _memory_of_container(self, pod, container, config):
        directory = self.dir_of(pod, container)
        request, limit = container.memory(pod.is_be)
        least = rules.protected(request, config["minLimitPercent"])
        low = rules.protected(request, config["lowLimitPercent"])
        self.put("memory", directory, "memory.min", least)
        self.put("memory", directory, "memory.low", max(low, least) if low else 0)
        self.put("memory", directory, "memory.high", rules.memory_high(
            request, limit, self.scenario.allocatable_memory, config["throttlingPercent"], least))
        self._put_reclaim(directory, config)
        self._put_oom_order(directory, config)

    def _put_page_cache(self, pod, directory, config):
        percent = config.get("pageCacheLimitPercent")
        limits = [c.memory(pod.is_be)[1] for c in pod.containers]
        if percent is None or not all(limits):
            return
        self.put("", directory, "memory.pagecache_limit.enable", 1)
        self.put("", directory, "memory.pagecache_limit.size", sum(limits) * percent // 100)
        self.put("", directory, "memory.pagecache_limit.sync", 0)

    def _blkio(self):
        if not self.v1:
            return

        def limit(directory, disk, read_iops, read_bps, write_iops, write_bps, weight):
            for kind, value in (("read_iops", read_iops), ("read_bps", read_bps),
                                ("write_iops", write_iops), ("write_bps", write_bps)):
                if value:  # one that is not there need not be taken away
                    self.put("blkio", directory, f"blkio.throttle.{kind}_device",
                             f"{disk} {value}")
            self.put("blkio", directory, "blkio.cost.weight", f"{disk} {weight}")

        limit(self.layout.qos_dir("BestEffort"), "253:16", 1000, 104857600, 500, 0, 60)
        for pod in self.pods:
            if pod.name == "burst":
                limit(self.pod_dir(pod), "253:0", 0, 0, 0, 1048576, 100)
        self.put("blkio", "", "blkio.cost.qos",
                 "253:16 enable=1 ctrl=user rpct=95 rlat=4000 wpct=95 wlat=3000")
        self.put("blkio", "", "blkio.cost.model", "253:16 ctrl=auto")

    def _resctrl(self):
        caches = self.shape.cache_ids(self.image.amd)
        for group, (start, end, percent) in {"LS": (0, 80, 90), "BE": (0, 30, 25)}.items():
            self.schemata[group] = rules.schemata_lines(
                caches, rules.cache_mask(self.image.CBM, start, end),
                rules.bandwidth(self.image.amd, percent))
        for pod in self.pods:
            if pod.name == "cached":
                shares = {c: rules.bandwidth(self.image.amd, 70 if c == 0 else 55) for c in caches}
                mask = rules.cache_mask(self.image.CBM, 10, 60)
                self.schemata[f"koordlet-{pod.uid}"] = [
                    "L3:" + "".join(f"{c}={mask:x};" for c in caches),
                    "MB:" + "".join(f"{c}={shares[c]};" for c in caches)]
                continue
            group = {"LSE": "LSR"}.get(pod.qos, pod.qos)
            if group == "SYSTEM":
                continue
            threads = [pod.sandbox_pid] + [pid for c in pod.containers for pid in c.pids]
            self.tasks.setdefault(group, set()).update(threads)

    def _system_config(self):
        self.put_plain("proc/sys/vm/min_free_kbytes", self.image.memory // 1024 * 100 // 10000)
        self.put_plain("proc/sys/vm/watermark_scale_factor", 150)
        self.put_plain("sys/kernel/mm/memcg_reaper/reap_background", 1)
        self.put_plain("proc/sys/kernel/sched_idle_saver_wmark", 5000)
        self.put_plain("sys/kernel/mm/pagecache_limit/enabled", 1)
        self.put_plain("sys/kernel/debug/sched_features", "HRTICK")

    # Evictions -----------------------------------------------------------------------------------

    def evictions(self):
        capacity = self.image.memory
        release = rules.memory_release(capacity, self.scenario.usage.memory(capacity), 80, 76)
        victims, freed = [], 0
        ordered = sorted((p for p in self.pods if p.label == "BE"),
                         key=lambda p: (p.priority, -p.memory))
        for pod in ordered:
            if freed >= release:
                break
            victims.append(f"{pod.namespace}/{pod.name}")
            freed += pod.memory
        return victims
