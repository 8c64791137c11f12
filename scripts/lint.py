#!/usr/bin/python3
"""lint.py [--layout | --deep] [FILE...]: fails if something is wrong with a source by itself: it is
not laid out as clang-format wants it, an #include is not a declared dependency (check_includes.py),
or clang-tidy finds something.

clang-tidy looks at what ships, as the preset `fuzz` compiles it, which is the one for clang: with
its precompiled headers, the files of a folder several at a time. Most of its work is headers, so
it is given many of these units together. With --deep it takes every file by itself, tests too, and
looks for what takes longer to find (DEEP below).

What clang-tidy found clean is remembered, by its content and that of the project's headers that it
includes, in ${XDG_CACHE_HOME:-~/.cache}/koordinator/lint; so another run, also in a fresh clone,
looks only at what has changed.

With --layout clang-tidy does not run at all, which leaves a matter of seconds. With FILEs, only
these are looked at.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FORMAT, TIDY = "clang-format-14", "clang-tidy-14"
ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
CLEAN = CACHE / "koordinator" / "lint"
REMEMBERED = 5000  # units: some twenty times the tree
# Units at a time. Twelve take clang-tidy little more than twice as long as one; the more there are,
# the more of them have local names in common.
TOGETHER = 12
TESTS = ("_test.cc", "_testing.cc", "_bench.cc", "_fuzz.cc")
# Beyond .clang-tidy. Following the paths through a function, as the analyzer does, is most of the
# work; the others look at every expression, also of the system's headers.
DEEP = ("bugprone-implicit-widening-of-multiplication-result", "bugprone-infinite-loop",
        "bugprone-misplaced-widening-cast", "bugprone-signed-char-misuse", "bugprone-unused-raii",
        "clang-analyzer-core.*", "clang-analyzer-cplusplus.*", "misc-unused-using-decls",
        "performance-unnecessary-copy-initialization")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FINDING = re.compile(r"^(?P<place>\S+:\d+:\d+): (?P<fatal>fatal )?(?:error|warning): (?:.|\n)*?"
                     r"\[-?(?P<check>[\w.+-]+)(?:,[\w,-]*)?\]$", re.MULTILINE)
# What clang-tidy says besides.
TALK = re.compile(r"^(?:\d+ (?:warning|error).* generated\.|Error while processing .*|"
                  r"Suppressed .*|Use -header-filter.*)$\n?", re.MULTILINE)


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sources():
    listed = output_of("git", "ls-files", "src/*.h", "src/*.cc").split()
    return [name for name in listed if os.path.exists(name)]


class Unit:
    """What the compiler takes at a time: one source, or one that includes several."""

    def __init__(self, path, files, flags, precompiled):
        self.path, self.files, self.flags = path, files, flags
        self.precompiled = precompiled  # the paths of headers
        # Set by Fingerprints: the files of the project that the compiler reads, and what stands for
        # all that the findings depend on.
        self.reads, self.fingerprint = None, None


def configure(deep):
    """Has CMake write down how sources are compiled and what depends on what."""
    folder = ROOT / "build" / ("lint" if deep else "fuzz")
    subprocess.run(["cmake", "--preset", "fuzz", "-B", folder,
                    f"-DKOORD_COMPILE_TOGETHER={'OFF' if deep else 'ON'}"],
                   check=True, stdout=subprocess.DEVNULL)
    return folder


def units(folder, deep, wanted):
    """What the build compiles of the wanted files."""
    found, fingerprints = [], Fingerprints(deep)
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        path, words = Path(entry["file"]), shlex.split(entry["command"])
        files = INCLUDE.findall(path.read_text()) if path.name.startswith("unity_") else [path]
        files = inside(files)
        if not wanted.intersection(files) or (files[0].endswith(TESTS) and not deep):
            continue
        precompiled = [Path(word) for word in words if word.endswith(".pch")]
        found.append(Unit(path, files, words[1:words.index("-o")], precompiled))
        fingerprints.set(found[-1])
    return found


def inside(files):
    """Those that are sources of ours, as Git names them."""
    return [os.path.relpath(file, ROOT) for file in files if ROOT / "src" in Path(file).parents]


def build_headers(folder, of_units):
    """Those that are generated or precompiled."""
    precompiled = {str(path.relative_to(folder)) for unit in of_units for path in unit.precompiled}
    subprocess.run(["cmake", "--build", folder, "--target", "generated", *sorted(precompiled)],
                   check=True, stdout=subprocess.DEVNULL)


class Fingerprints:
    """Cover all that the findings in a unit depend on, but for the system's headers."""

    def __init__(self, deep):
        self.read = {}
        configuration = (ROOT / ".clang-tidy").read_text().splitlines(keepends=True)
        checks = [line for line in configuration if not line.startswith("#")]
        if deep:
            checks += DEEP
        self.common = "".join([*checks, output_of(TIDY, "--version")]).encode()

    def set(self, unit):
        # cmake_pch.hxx.pch is made of cmake_pch.hxx.
        texts = [path.with_suffix("").read_text() for path in unit.precompiled]
        headers = inside(header for text in texts for header in INCLUDE.findall(text))
        unit.reads = self._closure([*unit.files, *headers])
        digest = hashlib.sha256(self.common)
        flags = [flag.replace(f"{ROOT}/", "") for flag in unit.flags]
        digest.update("\0".join([*unit.files, *flags]).encode())
        for name in sorted(unit.reads):
            digest.update(name.encode() + b"\0" + self._contents(name)[0])
        unit.fingerprint = digest.hexdigest()

    def _closure(self, files):
        waiting, seen = list(files), set(files)
        while waiting:
            new = set(self._contents(waiting.pop())[1]) - seen
            seen |= new
            waiting += new
        return seen

    def _contents(self, name):
        if name not in self.read:
            text = (ROOT / name).read_text()
            headers = [f"src/{header}" for header in INCLUDE.findall(text)]
            self.read[name] = text.encode(), [h for h in headers if (ROOT / h).exists()]
        return self.read[name]


class Clean:
    """Remembers which units are clean, by what they are made of."""

    def __init__(self):
        CLEAN.mkdir(parents=True, exist_ok=True)

    def knows(self, unit):
        stamp = CLEAN / unit.fingerprint
        if not stamp.exists():
            return False
        stamp.touch()
        return True

    def add(self, unit):
        (CLEAN / unit.fingerprint).touch()

    def forget_old(self):
        """Those that no run has asked for in a long time."""
        stamps = sorted(CLEAN.iterdir(), key=lambda stamp: stamp.stat().st_mtime, reverse=True)
        for stamp in stamps[REMEMBERED:]:
            stamp.unlink(missing_ok=True)


def batches(all_units, deep):
    """Those that are compiled alike, several at a time. Names that are local to a source must not
    clash, so take those from folders far apart."""
    alike = collections.defaultdict(list)
    for unit in all_units:
        alike[unit.path if deep else tuple(unit.flags)].append(unit)
    for members in alike.values():
        count = -(-len(members) // TOGETHER)
        yield from (members[at::count] for at in range(count))


def tidy(batch, deep):
    checks = [f"-checks={','.join(DEEP)}"] if deep else []
    if deep and batch[0].files[0].endswith(TESTS):
        # Following every path through the macros of a test takes minutes and finds nothing.
        checks = [f"{checks[0]},-clang-analyzer-*"]
    with tempfile.NamedTemporaryFile("w", suffix=".cc", dir=ROOT / "build") as source:
        source.writelines(f'#include "{unit.path}"\n' for unit in batch)
        source.flush()
        path = source.name if len(batch) > 1 else batch[0].path
        # Only with all errors is it known which units they are in.
        return run([TIDY, "-quiet", *checks, path, "--", *batch[0].flags, "-ferror-limit=0"],
                   batch[0].files[0])


class Finding:
    def __init__(self, match, text):
        self.place, self.check, self.text = match["place"], match["check"], text
        self.file = os.path.relpath(self.place.rsplit(":", 2)[0], ROOT)
        self.ends_all = bool(match["fatal"])
        self.is_error = self.check.startswith("clang-diagnostic-")


def run(command, name):
    """What a tool found."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return []
    said = done.stdout + done.stderr
    if not FINDING.search(said):
        said = f"{name}:1:1: fatal error: {said} [failed]\n"
    matches = list(FINDING.finditer(said))
    ends = [match.start() for match in matches[1:]] + [len(said)]
    return [Finding(match, said[match.start():end]) for match, end in zip(matches, ends)]


class Report:
    def __init__(self):
        self.seen = set()

    def add(self, findings):
        """Prints them. What is in a header comes up in many units."""
        for finding in findings:
            key = finding.place, finding.check
            if key not in self.seen:
                self.seen.add(key)
                progress("")
                print(TALK.sub("", finding.text).rstrip(), flush=True)

    def summary(self):
        for kind, count in collections.Counter(kind for _, kind in self.seen).most_common():
            print(f"{count:5} {kind}", file=sys.stderr)


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def check_layout(pool, files, report):
    chunks = [files[at:at + 50] for at in range(0, len(files), 50)]
    commands = [[FORMAT, "--dry-run", "--Werror", *chunk] for chunk in chunks]
    for findings in pool.map(lambda command: run(command, command[-1]), commands):
        report.add(findings)


def check(batch, deep, clean):
    """Has clang-tidy look at a batch: what it found, and the units that have to be taken by
    themselves, since they do not compile beside the others."""
    findings = tidy(batch, deep)
    if len(batch) == 1:
        if not findings:
            clean.add(batch[0])
        return findings, []
    known = set().union(*(unit.reads for unit in batch))
    if any(finding.ends_all or finding.file not in known for finding in findings):
        return [], batch
    broken = {finding.file for finding in findings if finding.is_error}
    apart = [unit for unit in batch if broken & unit.reads]
    found = []
    for unit in batch:
        if unit not in apart:
            own = [finding for finding in findings if finding.file in unit.reads]
            found += own
            if not own:
                clean.add(unit)
    return found, apart


def check_units(pool, changed, deep, clean, report):
    waiting, left = list(batches(changed, deep)), len(changed)
    while waiting:
        running = {pool.submit(check, batch, deep, clean): batch for batch in waiting}
        waiting = []
        for future in concurrent.futures.as_completed(running):
            findings, apart = future.result()
            report.add(findings)
            waiting += [[unit] for unit in apart]
            left += len(apart) - len(running[future])
            progress(f"clang-tidy: {left} units left")
    progress("")


def main():
    parser = argparse.ArgumentParser(description="See the top of this file.")
    parser.add_argument("--layout", action="store_true")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    files, deep = arguments.files or sources(), arguments.deep
    report, clean = Report(), Clean()
    folder = configure(deep)
    includes = subprocess.run([ROOT / "scripts" / "check_includes.py", ROOT / "src",
                               folder / "declared_dependencies.json"]).returncode
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    try:
        check_layout(pool, files, report)
        all_units = [] if arguments.layout else units(folder, deep, set(files))
        changed = [unit for unit in all_units if not clean.knows(unit)]
        if changed:
            build_headers(folder, changed)
        check_units(pool, changed, deep, clean, report)
    finally:
        pool.shutdown(cancel_futures=True)
    clean.forget_old()
    report.summary()
    print(f"{len(files)} files, {len(all_units)} units, {len(changed)} looked at by clang-tidy now,"
          f" {len(report.seen)} findings", file=sys.stderr)
    return 1 if report.seen or includes else 0


if __name__ == "__main__":
    sys.exit(main())
