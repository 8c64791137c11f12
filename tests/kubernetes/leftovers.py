#!/usr/bin/env python3
"""What a test might leave on this machine, from processes and mounts to files.

    tests/kubernetes/leftovers.py remember DIRECTORY FILE
    tests/kubernetes/leftovers.py compare DIRECTORY FILE

The first writes down what there is, the second prints what has changed since, and exits with 1 if
anything has. Processes are those that name DIRECTORY, where the tests have their temporary files.
"""

import json
import os
import pathlib
import sys

from machine import CGROUPS, DIRECTORIES, SETTINGS


def left(directory):
    """Sets of what is there, by kind."""
    processes = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (process / "cmdline").read_bytes()
        except OSError:
            continue
        # Shims of containers have the socket's path only, which is the same for all machines.
        if int(process.name) != os.getpid() and (
                str(directory).encode() in arguments or b"containerd-shim" in arguments):
            processes.add(arguments.replace(b"\0", b" ").decode(errors="replace"))
    return {
        "process": processes,
        "mount": set(pathlib.Path("/proc/mounts").read_text().splitlines()),
        "control group": {str(p) for p in CGROUPS.glob("*/*") if p.is_dir()},
        "network link": set(os.listdir("/sys/class/net")),
        "setting": {f"{s}={(pathlib.Path('/proc/sys') / s).read_text().strip()}" for s in SETTINGS},
        "file": {str(p) for d in DIRECTORIES for p in pathlib.Path(d).glob("*")} |
                {d for d in DIRECTORIES if os.path.exists(d)},
        "directory": {str(p) for p in (directory, *directory.glob("*")) if p.exists()},
    }


def compare(before, after):
    """What has changed, a text each."""
    return [f"{kind} {'left' if item in after[kind] else 'lost'}: {item[:200]}"
            for kind in before for item in sorted(before[kind] ^ after[kind])]


def main(command, directory, file):
    now, file = left(pathlib.Path(directory)), pathlib.Path(file)
    if command == "remember":
        file.write_text(json.dumps({kind: sorted(items) for kind, items in now.items()}))
        return 0
    before = {kind: set(items) for kind, items in json.loads(file.read_text()).items()}
    changes = compare(before, now)
    print("\n".join(changes or ["nothing"]))
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
