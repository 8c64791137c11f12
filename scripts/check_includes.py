#!/usr/bin/python3
"""check_includes.py [SOURCES [DECLARED]]: fails if an #include is not a declared dependency.

One folder below src/ is one CMake target, which declares the folders that it stands on (see
cmake/Targets.cmake). All of src/ is on every compiler's search path, so that the compiler does not
notice an include of something else; this does, and it looks at the declarations themselves:

  - A file may include headers of its own folder, of those that its target declares, and of those
    that these stand on in turn. It need not name the latter: DEPS are public since headers include
    headers, everything stands on base/ and most on kube/, and hundreds of declarations that repeat
    it would tell nobody anything. What matters is that the order is one: nothing is included
    against it, and an edge that is new to the order has to be declared, where a reviewer sees it.
  - Tests, benchmarks and fuzz targets may also include what TEST_DEPS, BENCH_LIBS and FUZZ_DEPS say.
  - Declarations make no circle, and point down the LAYERS below, never to a neighbour in the same.
  - What ships neither includes headers of tests (x_testing.h) nor declares a TEST_ONLY target.

The declarations are read from the file that CMake writes into the build folder as it configures,
since some of them are computed.
"""

import collections
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The top folders of src/, from low to high. Those of one line know nothing of each other.
LAYERS = (
    ("base",),
    ("kube",),
    ("api",),
    ("model",),
    ("program",),
    ("scheduler", "manager", "koordlet"),
    ("localcluster",),
    ("cli",),
    ("cmd",),
)

# Includes against the rule that are known: (who includes, what), and what would mend it. Only ever
# take entries away; one that is no longer needed is reported.
KNOWN = {
    # A list of headers to precompile, no code: it could stand in kube/client.
    ("kube/object_headers.h", "kube/client/*"),
    ("kube/object_headers.h", "kube/events/*"),
    ("kube/object_headers.h", "kube/objects/*"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
# Which declarations count for a file, by the end of its name, beside DEPS.
EXTRA = {"_test": "TEST_DEPS", "_testing": "TEST_DEPS", "_bench": "BENCH_DEPS", "_fuzz": "FUZZ_DEPS"}


def extra_of(path):
    return next((kind for end, kind in EXTRA.items() if Path(path).stem.endswith(end)), None)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def matches(pattern, path):
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern


class Layers:
    def __init__(self):
        self.height = {name: height for height, names in enumerate(LAYERS) for name in names}

    def problem(self, lower, upper):
        """Why a file in the folder `upper` must not see the folder `lower`, or None."""
        below, above = lower.split("/")[0], upper.split("/")[0]
        if below == above or below not in self.height or above not in self.height:
            return None
        if self.height[below] > self.height[above]:
            return f"{below}/ stands above {above}/"
        if self.height[below] == self.height[above]:
            return f"{below}/ and {above}/ know nothing of each other"
        return None


class Declarations:
    """What folders declare of each other."""

    def __init__(self, entries):
        folder_of_target = {entry["target"]: entry["folder"] for entry in entries}
        self.kinds = ("DEPS", *dict.fromkeys(EXTRA.values()))
        self.target_of = {}
        self.test_only = set()
        # Two targets may share a folder, such as a library and the program around it.
        self.declared = collections.defaultdict(lambda: collections.defaultdict(dict))
        for entry in entries:
            folder = entry["folder"]
            self.target_of.setdefault(folder, entry["target"])
            if entry.get("TEST_ONLY", "FALSE") == "TRUE":
                self.test_only.add(folder)
            for kind in self.kinds:
                for name in entry.get(kind, "").split():
                    if name in folder_of_target and folder_of_target[name] != folder:
                        self.declared[folder][kind][folder_of_target[name]] = name
        self.seen = {}

    def owner(self, path):
        """The folder with a target that a file belongs to, or None."""
        folder = os.path.dirname(path)
        while folder and folder not in self.target_of:
            folder = os.path.dirname(folder)
        return folder or None

    def visible(self, folder, extra):
        """The folders that a file may include from, if `extra` counts beside DEPS."""
        if (folder, extra) not in self.seen:
            waiting = [folder, *(self.declared[folder][extra] if extra else ())]
            found = set()
            while waiting:
                at = waiting.pop()
                if at not in found:
                    found.add(at)
                    waiting.extend(self.declared[at]["DEPS"])
            self.seen[folder, extra] = found
        return self.seen[folder, extra]

    def circle(self):
        """Folders that stand on each other by DEPS, the first one repeated at the end, or None."""
        done, path = set(), []

        def visit(folder):
            if folder in path:
                return path[path.index(folder):] + [folder]
            if folder in done:
                return None
            path.append(folder)
            for below in self.declared[folder]["DEPS"]:
                if found := visit(below):
                    return found
            path.pop()
            done.add(folder)
            return None

        return next(filter(None, map(visit, self.target_of)), None)


class Check:
    def __init__(self, sources, entries):
        self.sources = sources
        self.layers = Layers()
        self.declarations = Declarations(entries)
        self.used = set()  # of KNOWN
        self.problems = []

    def report(self, path, line, text):
        self.problems.append(f"{self.sources.name}/{path}:{line}: {text}")

    def run(self):
        self.check_folders()
        self.check_declarations()
        for suffix in ".h", ".cc":
            for path in sorted(self.sources.rglob(f"*{suffix}")):
                self.check_file(path.relative_to(self.sources).as_posix(), path.read_text())
        return self.problems

    def check_folders(self):
        for folder in sorted(path.name for path in self.sources.iterdir() if path.is_dir()):
            if folder not in self.layers.height:
                self.report(folder, 1, "has no place among the LAYERS in scripts/check_includes.py")

    def check_declarations(self):
        known = self.declarations
        for folder in list(known.target_of):
            for kind in known.kinds:
                for below, target in known.declared[folder][kind].items():
                    problem = self.layers.problem(below, folder)
                    if not problem and kind == "DEPS" and below in known.test_only - {folder}:
                        if folder not in known.test_only:
                            problem = f"{below}/ is for tests only"
                    if problem:
                        self.report(*self.declaration(folder, target),
                                    f"{known.target_of[folder]} declares {target}, but {problem}")
        if circle := known.circle():
            self.report(*self.declaration(circle[0], known.target_of[circle[1]]),
                        f"these stand on each other: {' -> '.join(circle)}")

    def declaration(self, folder, target):
        """Where a folder declares that it depends on a target."""
        path = f"{folder}/CMakeLists.txt"
        text = (self.sources / path).read_text()
        found = re.search(rf"\b{re.escape(target)}\b(?!-)", text)
        return path, line_of(text, found.start()) if found else 1

    def check_file(self, path, text):
        folder = self.declarations.owner(path)
        if folder is None:
            self.report(path, 1, "belongs to no target: its folder has no CMakeLists.txt")
            return
        for include in INCLUDE.finditer(text):
            header = include[1]
            if not (self.sources / header).exists():
                continue  # the system's, or made by the build, and then found only by who links it
            problem = self.problem(path, folder, header)
            if problem and not self.is_known(path, header):
                self.report(path, line_of(text, include.start(1)), f'"{header}": {problem}')

    def problem(self, path, folder, header):
        known, owner, extra = self.declarations, self.declarations.owner(header), extra_of(path)
        if owner is None:
            return "belongs to no target"
        if problem := self.layers.problem(owner, folder):
            return problem
        if owner not in known.visible(folder, extra):
            return (f"{known.target_of[folder]} does not declare {known.target_of[owner]}"
                    f" in {extra or 'DEPS'}")
        if extra is None and extra_of(header) and folder not in known.test_only:
            return "is for tests only"
        return None

    def is_known(self, path, header):
        for entry in KNOWN:
            if matches(entry[0], path) and matches(entry[1], header):
                self.used.add(entry)
                return True
        return False


def main(arguments):
    sources = Path(arguments[0] if arguments else ROOT / "src")
    declared = Path(arguments[1] if len(arguments) > 1 else
                    ROOT / "build" / "declared_dependencies.json")
    check = Check(sources, json.loads(declared.read_text()))
    problems = check.run()
    if sources.samefile(ROOT / "src"):
        problems += [f"scripts/check_includes.py:1: no longer KNOWN: {who} includes {what}"
                     for who, what in sorted(KNOWN - check.used)]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
