"""koordlet's rules as plain arithmetic: what each strategy makes of its inputs.

Written from the rules themselves, independently of the program, so that both must agree.
"""

import math
import re

PERIOD = 100_000
PAGE = 4096
UNLIMITED = -1


def parse_cpus(text):
    cpus = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


# CPU suppression ---------------------------------------------------------------------------------


def be_milli(capacity_milli, threshold, node, pods, pods_not_be, apps, apps_not_be, reserved):
    system = max(node - pods - apps, 0, reserved)
    return (capacity_milli * threshold // 100 - int(pods_not_be * 1000 + 1e-6) -
            int(apps_not_be * 1000 + 1e-6) - int(system * 1000 + 1e-6))


def be_quota(milli, current, cpus):
    new = max(milli * PERIOD // 1000, 2000)
    if current == UNLIMITED:
        return new
    if abs(new - current) < cpus * PERIOD * 0.01 and new != 2000:
        return current
    if new - current > cpus * PERIOD * 0.1:
        return current + int(cpus * PERIOD * 0.1)
    return new


def pick(count, processors):
    """`processors`: (cpu, core, socket, node). Whole cores first, spread over NUMA nodes."""
    if count <= 0 or len(processors) < count:
        return set()
    by_place = {}
    for p in processors:
        by_place.setdefault((p[3] + len(processors)) * (p[2] + 1), []).append(p)
    buckets = [sorted(of, key=lambda p: (p[1], p[0])) for of in by_place.values()]
    buckets.sort(key=lambda of: (-len(of), of[0][0]))
    taken = set()
    at = idle = 0
    while count - len(taken) > 1 and idle < len(buckets):
        bucket = [p for p in buckets[at]]
        pair = next(((a, b) for a, b in zip(bucket, bucket[1:])
                     if a[1] == b[1] and a[0] not in taken and b[0] not in taken), None)
        if pair:
            taken.update(p[0] for p in pair)
            idle = 0
        else:
            idle += 1
        at = (at + 1) % len(buckets)
    while len(taken) < count:
        single = next((p[0] for p in buckets[at] if p[0] not in taken), None)
        if single is not None:
            taken.add(single)
        at = (at + 1) % len(buckets)
    return taken


def be_cpus(milli, old, shape, lsr, lse, kept):
    """None: nothing is written."""
    of_lsr = [p for p in shape.cpus if p[0] in lsr and p[0] not in kept]
    shared = [p for p in shape.cpus if p[0] not in lsr | lse | kept]
    if not of_lsr and not shared:
        return None
    step = math.ceil(0.1 * len(shape.cpus))
    count = max(-(-milli // 1000), 2)
    if count - len(old) > step:
        count = len(old) + step
    from_lsr = count * len(of_lsr) // (len(of_lsr) + len(shared))
    return pick(from_lsr, of_lsr) | pick(count - from_lsr, shared)


# CPU burst ---------------------------------------------------------------------------------------


def static_burst(limit_milli, policy, percent):
    if policy not in ("auto", "cpuBurstOnly") or limit_milli <= 0:
        return 0
    return int(limit_milli / 1000 * percent / 100 * PERIOD)


def node_state(used, total, threshold):
    ratio = used / total if total > 0 else 1
    if ratio >= threshold / 100:
        return "overload"
    return "cooling" if ratio >= 0.9 * threshold / 100 else "idle"


def scaled_quota(current, base, policy, percent, state):
    """Of a container that is not throttled."""
    step = "remain" if policy in ("auto", "cfsQuotaBurstOnly") else "reset"
    if state == "overload" and step == "remain":
        step = "down"
    target = {"remain": current, "down": int(current * 0.8), "reset": base}[step]
    ceiling = int(base * percent / 100) if percent > 100 else base
    return min(max(target, base), ceiling)


# Memory ------------------------------------------------------------------------------------------


def protected(request, percent):
    return request * percent // 100


def memory_high(request, limit, allocatable, throttling, least):
    if throttling == 0:
        return "max"
    top = limit if limit > 0 else allocatable
    high = (request + (top - request) * throttling // 100) // PAGE * PAGE
    return max(high, least) if high > 0 else high


def memory_release(capacity, used, threshold, lower):
    percent = used * 100 // capacity
    return capacity * (percent - lower) // 100 if percent >= threshold else 0


# Cache and memory bandwidth ----------------------------------------------------------------------


def cache_mask(cbm, start, end):
    width = cbm.bit_length()
    first, last = -(-width * start // 100), -(-width * end // 100)
    return 2**last - 2**first


def bandwidth(amd, percent):
    if not amd:
        return -(-percent // 10) * 10
    return 2048 if percent == 100 else int(160 * percent / 100)


def schemata_lines(caches, mask, share):
    return ["L3:" + "".join(f"{c}={mask:x};" for c in caches),
            "MB:" + "".join(f"{c}={share};" for c in caches)]


# Batch resources ---------------------------------------------------------------------------------


def normalized(quota, ratio):
    return math.ceil(quota / ratio) if quota > 0 and ratio and ratio > 1 else quota


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMGT]i)?", str(text)).groups()
    return int(number) * 1024**" KMGT".index(unit[0] if unit else " ")
