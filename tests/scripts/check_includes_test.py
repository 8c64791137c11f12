#!/usr/bin/python3
"""scripts/check_includes.py finds each kind of violation in a small tree, and nothing in a sound one."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_includes.py"


class Tree:
    """Folders with the targets that they declare. It is sound as it is made."""

    def __init__(self, root):
        self.root = Path(root) / "src"
        self.targets = []
        self.folder("base", "koord_base")
        self.folder("kube", "koord_kube", DEPS="koord_base")
        self.folder("scheduler/queue", "koord_queue", DEPS="koord_kube absl::status")
        self.folder("scheduler/testing", "koord_testing", DEPS="koord_queue", TEST_ONLY="TRUE")
        self.folder("manager", "koord_manager", DEPS="koord_kube", FUZZ_DEPS="koord_base")
        self.folder("cmd", "koord", DEPS="koord_manager koord_queue")
        self.write("base/clock.h", "#include <ctime>\n")
        self.write("base/clock.cc", '#include "base/clock.h"\n')
        self.write("kube/json.h", '#include "base/clock.h"\n')
        self.write("scheduler/queue/queue.h", '#include "kube/json.h"\n')
        self.write("scheduler/queue/queue_testing.h", '#include "scheduler/queue/queue.h"\n')
        self.write("scheduler/testing/bed.h", '#include "scheduler/queue/queue_testing.h"\n')
        self.write("manager/manager.h", '#include "base/clock.h"\n')  # through kube/
        self.write("cmd/main.cc", '#include "manager/manager.h"\n#include "scheduler/queue/queue.h"\n')

    def folder(self, folder, target, **declared):
        self.targets = [entry for entry in self.targets if entry["target"] != target]
        self.targets.append({"target": target, "folder": folder, **declared})
        lines = [f"koord_library({target}"]
        lines += [f"  {kind} {names}" for kind, names in declared.items()]
        self.write(f"{folder}/CMakeLists.txt", "\n".join(lines) + ")\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def check(self):
        declared = self.root.parent / "declared.json"
        declared.write_text(json.dumps(self.targets))
        done = subprocess.run([SCRIPT, self.root, declared], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout.splitlines()


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)

    def expect(self, *problems):
        status, lines = self.tree.check()
        self.assertEqual(lines, list(problems))
        self.assertEqual(status, 1 if problems else 0)

    def test_a_sound_tree_passes(self):
        self.expect()

    def test_an_include_that_is_not_declared(self):
        self.tree.folder("scheduler/core", "koord_core", DEPS="koord_base")
        self.tree.write("scheduler/core/core.cc", '#include <map>\n\n#include "base/clock.h"\n'
                        '#include "scheduler/queue/queue.h"\n#  include <kube/json.h>\n')
        self.expect(
            'src/scheduler/core/core.cc:4: "scheduler/queue/queue.h": koord_core does not declare'
            ' koord_queue in DEPS',
            'src/scheduler/core/core.cc:5: "kube/json.h": koord_core does not declare koord_kube'
            ' in DEPS')

    def test_tests_benchmarks_and_fuzz_targets_have_declarations_of_their_own(self):
        self.tree.folder("scheduler/core", "koord_core", DEPS="koord_base", TEST_DEPS="koord_queue",
                         BENCH_DEPS="koord_kube")
        include = '#include "scheduler/queue/queue.h"\n'
        for name in "core_test.cc", "core_testing.h", "core_bench.cc", "core_fuzz.cc", "core.h":
            self.tree.write(f"scheduler/core/{name}", include)
        place, problem = "src/scheduler/core/core", "koord_core does not declare koord_queue in"
        self.expect(f'{place}.h:1: "scheduler/queue/queue.h": {problem} DEPS',
                    f'{place}_bench.cc:1: "scheduler/queue/queue.h": {problem} BENCH_DEPS',
                    f'{place}_fuzz.cc:1: "scheduler/queue/queue.h": {problem} FUZZ_DEPS')

    def test_an_include_against_the_layers(self):
        self.tree.write("base/clock.cc", '#include "kube/json.h"\n')
        self.expect('src/base/clock.cc:1: "kube/json.h": kube/ stands above base/')

    def test_a_declaration_against_the_layers(self):
        self.tree.folder("base", "koord_base", TEST_DEPS="koord_manager")
        self.expect("src/base/CMakeLists.txt:2: koord_base declares koord_manager, but manager/ stands"
                    " above base/")

    def test_components_do_not_see_each_other(self):
        self.tree.folder("manager", "koord_manager", DEPS="koord_kube", TEST_DEPS="koord_queue")
        self.tree.write("manager/manager_test.cc", '#include "scheduler/queue/queue.h"\n')
        self.expect("src/manager/CMakeLists.txt:3: koord_manager declares koord_queue, but scheduler/"
                    " and manager/ know nothing of each other",
                    'src/manager/manager_test.cc:1: "scheduler/queue/queue.h": scheduler/ and manager/'
                    ' know nothing of each other')

    def test_a_circle(self):
        self.tree.folder("scheduler/core", "koord_core", DEPS="koord_queue")
        self.tree.folder("scheduler/queue", "koord_queue", DEPS="koord_kube koord_core")
        status, lines = self.tree.check()
        self.assertEqual(status, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"^src/scheduler/(core|queue)/CMakeLists.txt:2: these stand on each"
                         r" other: (\S+) -> \S+ -> \2$")

    def test_what_ships_without_the_tests(self):
        self.tree.write("scheduler/queue/queue.cc", '#include "scheduler/queue/queue_testing.h"\n')
        self.tree.folder("cmd", "koord", DEPS="koord_manager koord_queue\n  koord_testing")
        self.expect("src/cmd/CMakeLists.txt:3: koord declares koord_testing, but scheduler/testing/ is"
                    " for tests only",
                    'src/scheduler/queue/queue.cc:1: "scheduler/queue/queue_testing.h": is for tests'
                    ' only')

    def test_a_folder_without_a_layer_or_a_target(self):
        self.tree.write("misc/things.h", "")
        self.tree.write("kube/json.h", '#include "misc/things.h"\n')
        self.expect("src/misc:1: has no place among the LAYERS in scripts/check_includes.py",
                    'src/kube/json.h:1: "misc/things.h": belongs to no target',
                    "src/misc/things.h:1: belongs to no target: its folder has no CMakeLists.txt")

    def test_a_file_below_belongs_to_the_folder_above(self):
        self.tree.write("manager/parts/part.cc", '#include "manager/manager.h"\n'
                        '#include "scheduler/queue/queue.h"\n')
        self.expect('src/manager/parts/part.cc:2: "scheduler/queue/queue.h": scheduler/ and manager/'
                    ' know nothing of each other')


if __name__ == "__main__":
    unittest.main()
