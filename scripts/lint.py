#!/usr/bin/python3
"""Fails if a source is not laid out as clang-format wants it, or if clang-tidy finds something.

With arguments, checks only those files. What was found clean is remembered in build/lint, by its
content and that of the project's headers that it includes; so a second run looks only at what has
changed.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

FORMAT, TIDY = "clang-format-14", "clang-tidy-14"
ROOT = Path(__file__).resolve().parent.parent
CLEAN = ROOT / "build" / "lint"
# Following every path through the macros of a test takes minutes and finds nothing.
NO_ANALYSIS = ("_test.cc", "_testing.cc", "_bench.cc")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FINDING = re.compile(r"^(?P<place>\S+:\d+:\d+): (?:fatal )?(?:error|warning): (?:.|\n)*?"
                     r"\[-?(?P<check>[\w.-]+)(?:,[\w,-]*)?\]$", re.MULTILINE)
# What clang-tidy says besides.
TALK = re.compile(r"^(?:\d+ (?:warning|error).* generated\.|Error while processing .*|"
                  r"Suppressed .*|Use -header-filter.*)$\n?", re.MULTILINE)


def sources():
    listed = subprocess.run(["git", "ls-files", "src/*.h", "src/*.cc"], check=True,
                            stdout=subprocess.PIPE, text=True)
    return [name for name in listed.stdout.split() if os.path.exists(name)]


class Flags:
    """What clang needs of the commands that the build gives to GCC: not GCC's own warnings, nor its
    precompiled headers."""

    def __init__(self):
        # The usual build compiles several files as one, and has no command of each.
        folder = CLEAN / "commands"
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja",
                        "-DCMAKE_BUILD_TYPE=Release", "-DKOORD_COMPILE_TOGETHER=OFF"],
                       check=True, stdout=subprocess.DEVNULL)
        database = folder / "compile_commands.json"
        self.of_file, self.of_folder = {}, {}
        for entry in json.loads(database.read_text()):
            path = Path(entry["file"])
            words = shlex.split(entry["command"])
            kept = [word for word in words if word.startswith(("-D", "-I", "-std=", "-pthread"))
                    and not word.startswith("-D_FORTIFY_SOURCE")]
            self.of_file[path] = kept
            self.of_folder.setdefault(path.parent, kept)

    def of(self, name):
        path = ROOT / name
        # Fuzz targets are not in the usual build.
        return self.of_file.get(path) or self.of_folder.get(path.parent) or ["-std=c++20", "-Isrc"]


class Fingerprints:
    """Cover all that the findings in a file depend on, but for the system's headers."""

    def __init__(self, flags):
        self.flags = flags
        self.read = {}
        self.common = (ROOT / ".clang-format").read_bytes() + (ROOT / ".clang-tidy").read_bytes()
        for tool in FORMAT, TIDY:
            self.common += subprocess.run([tool, "--version"], check=True,
                                          stdout=subprocess.PIPE).stdout

    def of(self, name):
        digest = hashlib.sha256(self.common)
        digest.update("\0".join([name, *self.flags.of(name)]).encode())
        waiting, seen = [name], {name}
        while waiting:
            text, headers = self._contents(waiting.pop())
            digest.update(text)
            for header in headers:
                if header not in seen:
                    seen.add(header)
                    waiting.append(header)
        return digest.hexdigest()

    def _contents(self, name):
        if name not in self.read:
            text = (ROOT / name).read_text()
            headers = [f"src/{header}" for header in INCLUDE.findall(text)]
            self.read[name] = text.encode(), [h for h in headers if (ROOT / h).exists()]
        return self.read[name]


def check(name, flags):
    """Runs the tools on one file: whether it is clean, and what they said."""
    commands = [[FORMAT, "--dry-run", "--Werror", name]]
    if name.endswith(".cc"):
        checks = ["-checks=-clang-analyzer-*"] if name.endswith(NO_ANALYSIS) else []
        commands.append([TIDY, "-quiet", *checks, name, "--", *flags.of(name)])
    clean, output = True, ""
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            clean = False
            said = done.stdout + done.stderr
            output += said if FINDING.search(said) else f"{name}:1:1: error: {said} [failed]\n"
    return clean, output


def findings(output):
    """The findings in what the tools said: (place, check), and the lines about each."""
    starts = [match.start() for match in FINDING.finditer(output)] + [len(output)]
    for begin, end in zip(starts, starts[1:]):
        match = FINDING.match(output, begin)
        yield (match["place"], match["check"]), TALK.sub("", output[begin:end]).rstrip()


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main(arguments):
    os.chdir(ROOT)
    files = arguments or sources()
    flags = Flags()
    fingerprints = Fingerprints(flags)
    CLEAN.mkdir(parents=True, exist_ok=True)
    stamps = {name: CLEAN / fingerprints.of(name) for name in files}
    changed = [name for name in files if not stamps[name].exists()]
    reported = set()
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    running = {pool.submit(check, name, flags): name for name in changed}
    try:
        for count, future in enumerate(concurrent.futures.as_completed(running), 1):
            name = running[future]
            progress(f"[{count}/{len(changed)}] {name}")
            clean, output = future.result()
            if clean:
                stamps[name].touch()
            for key, text in findings(output):
                if key not in reported:  # what is in a header comes up wherever it is included
                    reported.add(key)
                    progress("")
                    print(text, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    progress("")
    for kind, count in collections.Counter(kind for _, kind in reported).most_common():
        print(f"{count:5} {kind}", file=sys.stderr)
    print(f"{len(files)} files, {len(changed)} checked, {len(reported)} findings", file=sys.stderr)
    return 1 if reported else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
