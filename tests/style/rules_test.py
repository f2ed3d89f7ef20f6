"""Each rule finds what it is for, and leaves good code alone."""

import unittest

import rules

GUARD = "#ifndef PACELINE_{0}_\n#define PACELINE_{0}_\n{1}\n#endif  // PACELINE_{0}_\n"


class RulesTest(unittest.TestCase):

    def expect(self, rule, path, text, violation=None):
        """Expects that `rule` finds `violation` (or nothing) in a file."""
        found = list(rule({path: text}))
        if violation is None:
            self.assertEqual(found, [])
        else:
            self.assertEqual(len(found), 1, found)
            self.assertIn(violation, found[0])

    def test_include_layers(self):
        self.expect(rules.include_layers, "common/a/x.cc", '\n#include "worker/y.h"\n',
                    "common/a/x.cc:2: common must not include worker/y.h")
        self.expect(rules.include_layers, "coordinator/x.cc", '#include "ps_server/y.h"',
                    "coordinator must not include")
        self.expect(rules.include_layers, "worker/x.cc",
                    '#include "common/y.h"\n#include "paceline/v1/job.pb.h"\n#include <vector>')

    def test_folder_cycles(self):
        files = {
            "common/a/x.h": '#include "common/b/y.h"',
            "common/b/y.h": '#include "common/c/z.h"',
            "common/c/z.h": "",
        }
        self.assertEqual(list(rules.folder_cycles(files)), [])
        files["common/c/w.h"] = '#include "common/a/x.h"'
        found = list(rules.folder_cycles(files))
        self.assertEqual(len(found), 1)
        self.assertIn("common/a -> common/b -> common/c -> common/a", found[0])
        # A program is not its folder's library.
        files["common/c/main.cc"] = files.pop("common/c/w.h")
        self.assertEqual(list(rules.folder_cycles(files)), [])
        files["common/c/w.h"] = files.pop("common/c/main.cc")
        # Folders of one target may.
        self.assertEqual(list(rules.folder_cycles(files | {"common/CMakeLists.txt": ""})), [])

    def test_cmake_layers(self):
        worker = {"worker/CMakeLists.txt": "paceline_library(paceline_worker SOURCES x.cc)"}
        self.assertEqual(
            list(rules.cmake_layers(worker | {"common/CMakeLists.txt":
                "paceline_library(paceline_common\n  SOURCES y.cc\n  DEPS paceline_worker)"})),
            ["common/CMakeLists.txt:1: paceline_common must not depend on paceline_worker"])
        self.assertEqual(
            list(rules.cmake_layers(worker | {"worker/b/CMakeLists.txt":
                "paceline_library(b SOURCES y.cc DEPS paceline_worker paceline_grpc)"})), [])

        tests = {"tests/CMakeLists.txt": "paceline_library(helpers SOURCES x.cc DEPS a)"}
        self.assertEqual(list(rules.cmake_layers(tests)), [])
        self.assertEqual(
            len(list(rules.cmake_layers(tests | {"worker/CMakeLists.txt":
                "paceline_library(a SOURCES y.cc DEPS helpers)"}))), 1)

    def test_one_target_a_folder(self):
        self.expect(rules.one_target_a_folder, "common/CMakeLists.txt",
                    "paceline_library(a SOURCES a.cc)\npaceline_library(b SOURCES b.cc)",
                    "2 targets of kind library")
        self.expect(rules.one_target_a_folder, "worker/CMakeLists.txt",
                    "paceline_library(a SOURCES a.cc)\npaceline_binary(b SOURCES main.cc)")

    def test_grpc_includes(self):
        for header in ("<grpcpp/grpcpp.h>", '"paceline/v1/ps.grpc.pb.h"'):
            self.expect(rules.grpc_includes, "worker/trainer.cc", f"#include {header}",
                        "worker/trainer.cc:1")
            for path in ("common/rpc/x.cc", "worker/main.cc", "ps_server/ps_service.cc",
                         "worker/ps_client/grpc_client.cc"):
                self.expect(rules.grpc_includes, path, f"#include {header}")

    def test_cuda_includes(self):
        self.expect(rules.cuda_includes, "worker/device/cpu/x.cc", "#include <cuda_runtime.h>",
                    "only by worker/device/cuda")
        self.expect(rules.cuda_includes, "worker/device/cuda/x.cc", "#include <cuda_runtime.h>")

    def test_forbidden_includes(self):
        self.expect(rules.forbidden_includes, "worker/strategy/x.cc",
                    '#include "common/model/layers/dense.h"', "knows no layer")
        self.expect(rules.forbidden_includes, "worker/strategy/x.cc", "#include <fstream>",
                    "no file")
        self.expect(rules.forbidden_includes, "worker/data/x.cc",
                    '#include "worker/device/device.h"', "no device")
        self.expect(rules.forbidden_includes, "common/x.cc",
                    '#include "absl/synchronization/mutex.h"', "thread sanitizer")
        self.expect(rules.forbidden_includes, "worker/strategy/x.cc",
                    '#include "worker/device/device.h"')

    def test_state_machine_io(self):
        machine = "common/session/machine/x.cc"
        for header in ("<fstream>", "<thread>", "<sys/socket.h>", "<grpcpp/grpcpp.h>", "<cstdlib>",
                       '"absl/time/clock.h"', '"common/base/clock.h"', '"common/rpc/x.h"',
                       '"common/checkpoint/manifest.h"', '"common/data_source/npz.h"'):
            self.expect(rules.state_machine_io, machine, f"\n#include {header}", machine + ":2")
        for words in ("now = absl::Now();", "MonotonicNow()", "std::thread t;",
                      "std::ofstream file(path);", "std::fstream file;", "std::clog << row;",
                      "std::filesystem::remove(path);", "std::atomic_int count;",
                      'FILE* file = fopen(path, "w");', 'std::fprintf(stderr, "row");',
                      "const int file = ::open(path, O_RDONLY);",
                      'google::SetLogDestination(google::INFO, "/tmp/x");',
                      "google::AddLogSink(&sink);", 'FLAGS_log_dir = "/tmp";'):
            self.expect(rules.state_machine_io, "ps_server/aggregator.h", words, "no I/O")
            self.expect(rules.state_machine_io, "ps_server/shard.h", words)
        self.expect(rules.state_machine_io, machine,
                    '#include "glog/logging.h"\n#include "absl/time/time.h"\n#include <map>')
        self.expect(rules.state_machine_io, machine,
                    'LOG(WARNING) << "full";\nqueue.open();\nqueue->read();\nSession::open(x);')

        files = {machine: '#include "common/a/x.h"', "common/a/x.h": '#include "common/a/y.h"',
                 "common/a/y.h": '#include "common/a/x.h"\n#include <filesystem>'}
        self.assertEqual(
            list(rules.state_machine_io(files)),
            [machine + ":1: filesystem through common/a/x.h: a state machine has no I/O"])

    def test_header_guards(self):
        self.expect(rules.header_guards, "common/a_b.h", GUARD.format("COMMON_A_B_H", ""))
        self.expect(rules.header_guards, "common/a_b.h", GUARD.format("COMMON_C_H", ""),
                    "PACELINE_COMMON_A_B_H_")
        self.expect(rules.header_guards, "common/a_b.h", "#pragma once\n", "guard")

    def test_environment(self):
        self.expect(rules.environment, "worker/x.cc", 'std::getenv("HOME")', "worker/x.cc:1")
        self.expect(rules.environment, "worker/main.cc", 'std::getenv("HOME")')

    def test_locks(self):
        self.expect(rules.locks, "worker/x.cc", "std::mutex m;", "common/base/mutex.h")
        self.expect(rules.locks, "common/base/mutex.h", "std::mutex m;")

    def test_names(self):
        self.expect(rules.names, "worker/x.h", "class LeaseManager {", "say nothing")
        self.expect(rules.names, "worker/x.h", "class Lease {")

    def test_strategy_names(self):
        asks = "if (job.strategy() == v1::STRATEGY_MIRRORED) {"
        self.expect(rules.strategy_names, "worker/x.cc", asks, "ask for a trait")
        self.expect(rules.strategy_names, "tests/x.cc", asks)
        self.expect(rules.strategy_names, "worker/strategy/strategies.cc", asks)
        self.expect(rules.strategy_names, "worker/strategy/x.h",
                    "#ifndef PACELINE_WORKER_STRATEGY_X_H_")

    def test_unfinished(self):
        # In two parts, so that this file keeps the rule.
        self.expect(rules.unfinished, "worker/x.cc", "// TO" "DO: more", "do it")

    def test_file_sizes(self):
        self.expect(rules.file_sizes, "worker/x.cc", "\n" * 600, "600 lines")
        self.expect(rules.file_sizes, "worker/x.cc", "\n" * 599)


if __name__ == "__main__":
    unittest.main()
