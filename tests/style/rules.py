"""The rules of the source tree that a program can check.

Each rule takes the tree as {path: text}, paths relative to the repository, and
yields violations as "path:line: what is wrong". docs/design/building.md
says why there are such rules.
"""

import collections
import fnmatch
import posixpath
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)

# What the code of each top-level folder may use.
LAYERS = {
    "proto": {"proto"},
    "common": {"proto", "common"},
    "coordinator": {"proto", "common", "coordinator"},
    "worker": {"proto", "common", "worker"},
    "ps_server": {"proto", "common", "ps_server"},
}

# (where, what must not be included there, why).
FORBIDDEN_INCLUDES = [
    ("worker/data/*", ["worker/device/*", "common/rpc/*", "grpc*"],
     "worker/data knows no device and no gRPC"),
    ("worker/device/*", ["common/rpc/*", "grpc*"], "worker/device knows no gRPC"),
    ("worker/strategy/*",
     ["common/model/layer.h", "common/model/layers/*", "common/base/file.h",
      "common/checkpoint/*", "common/data_source/*", "worker/data/*", "fstream", "filesystem"],
     "worker/strategy knows no layer and no file"),
    ("*", ["absl/log/*", "absl/synchronization/*", "ranges"],
     "use glog, common/base/mutex.h and plain loops: Debian's Abseil has no log "
     "and is not built for the thread sanitizer, clang 14 cannot compile ranges"),
]

# Locks nothing: it says how gRPC's locks are checked.
MAY_INCLUDE = {("common/process/lock_checks.cc", "absl/synchronization/mutex.h")}

STATE_MACHINES = [
    "common/callback/*", "common/daemon/task_book.*", "common/session/machine/*",
    "coordinator/queue/*", "ps_server/aggregator.*", "ps_server/known_workers.*",
]

# Calls, sockets, files, threads and clocks: headers of gRPC, of the system, of C++, of Abseil
# and of our own. Headers that include one of these need not be listed.
IO_HEADERS = [
    "grpc/*", "grpcpp/*", "*.grpc.pb.h",
    "arpa/*", "linux/*", "netinet/*", "sys/*", "aio.h", "dirent.h", "fcntl.h", "netdb.h", "poll.h",
    "pthread.h", "sched.h", "semaphore.h", "signal.h", "spawn.h", "stdio.h", "stdlib.h", "time.h",
    "unistd.h",
    "atomic", "barrier", "chrono", "condition_variable", "csignal", "cstdio", "cstdlib", "ctime",
    "filesystem", "fstream", "future", "iostream", "latch", "mutex", "semaphore", "shared_mutex",
    "stop_token", "syncstream", "thread",
    "absl/synchronization/*", "absl/time/clock.h",
    "common/base/atomic_file.h", "common/base/clock.h", "common/base/cores.h", "common/base/file.h",
    "common/base/file_descriptor.h", "common/base/folder.h", "common/base/mutex.h",
    "common/base/ticker.h",
    "common/checkpoint/checkpoint_folder.h", "common/checkpoint/checkpoint_reader.h",
    "common/checkpoint/manifest.h",
    "common/data_source/*", "common/identity/job_secret.h", "common/job/job_fingerprint.h",
    "common/job/job_reader.h",
    "common/net/*", "common/process/*", "common/rpc/*", "common/shared_memory/*",
]

# What a file can use without an include, since headers are precompiled and glog's has those of
# the system. Messages to glog are no I/O here: it is the program that says where they go.
IO_NAMES = "|".join([
    r"\bMonotonicNow\b",
    r"\babsl::(?:Now|GetCurrentTimeNanos|SleepFor)\b",
    r"\bstd::(?:atomic\w*|chrono|filesystem|j?thread|this_thread|async|future|promise)\b",
    r"\bstd::(?:basic_)?(?:[io]?fstream|filebuf|osyncstream)\b|\bstd::(?:cin|cout|cerr|clog)\b",
    # Of C and of the system; by a name that is a function of ours as well, only as "::read(".
    r"\b(?:fopen|fdopen|freopen|popen|tmpfile|fread|fwrite|fputs|puts|printf|fprintf|perror"
    r"|mkstemp|nanosleep|usleep|gettimeofday|clock_gettime)\s*\(",
    r"(?<![\w>])::(?:open|close|read|write|pread|pwrite|rename|unlink|socket|connect|send|recv"
    r"|time|sleep|system)\s*\(",
    r"\bgoogle::(?:InitGoogleLogging|SetLog\w+|SetStderrLogging|LogTo\w+|FlushLogFiles\w*"
    r"|AddLogSink|LogSink)\b|\bFLAGS_\w+",
])

MAX_LINES = 600


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def is_source(path):
    return path.endswith((".h", ".cc", ".cu", ".cuh"))


def is_product(path):
    """Whether the file is part of what Paceline ships, not a test."""
    return posixpath.dirname(path).split("/")[0] in LAYERS


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def includes(text):
    """Yields (line, included path) of a source."""
    for match in INCLUDE.finditer(text):
        yield line_of(text, match.start()), match.group(1) or match.group(2)


def layer_of(include):
    """The top-level folder an include comes from, or None."""
    first = include.split("/")[0]
    if first == "paceline":  # generated from proto/
        return "proto"
    return first if first in LAYERS else None


def include_layers(files):
    """Includes point from upper layers to lower ones."""
    for path, text in files.items():
        if not (is_source(path) and is_product(path)):
            continue
        allowed = LAYERS[path.split("/")[0]]
        for line, include in includes(text):
            layer = layer_of(include)
            if layer is not None and layer not in allowed:
                yield f"{path}:{line}: {path.split('/')[0]} must not include {include}"


def home_of(path, files):
    """The folder of the target that a file belongs to: the nearest with a CMakeLists.txt."""
    folder = posixpath.dirname(path)
    while folder and folder + "/CMakeLists.txt" not in files:
        folder = posixpath.dirname(folder)
    return folder or posixpath.dirname(path)


def folder_cycles(files):
    """Folders with targets do not include each other in a circle."""
    edges = collections.defaultdict(dict)
    for path, text in files.items():
        # Nobody includes a program, so it is above its folder's library.
        is_program = posixpath.basename(path) == "main.cc"
        if is_program or not (is_source(path) and is_product(path)):
            continue
        folder = home_of(path, files)
        for line, include in includes(text):
            target = home_of(include, files)
            if include in files and target != folder:
                edges[folder].setdefault(target, f"{path}:{line}")
    for cycle in find_cycles(edges):
        where = edges[cycle[0]][cycle[1]]
        yield f"{where}: folders depend on each other: {' -> '.join(cycle)}"


def find_cycles(edges):
    """Yields one cycle, as a list that ends where it begins, per back edge."""
    done, stack = set(), []

    def visit(node):
        if node in stack:
            yield stack[stack.index(node):] + [node]
            return
        if node in done:
            return
        stack.append(node)
        for target in sorted(edges.get(node, ())):
            yield from visit(target)
        stack.pop()
        done.add(node)

    for node in sorted(edges):
        yield from visit(node)


def cmake_targets(files):
    """Yields (path, line, kind, name, dependencies) of our CMake targets."""
    call = re.compile(r"\bpaceline_(library|binary)\(([^()]*)\)")
    for path, text in files.items():
        if posixpath.basename(path) != "CMakeLists.txt":
            continue
        code = re.sub(r"#.*", "", text)
        for match in call.finditer(code):
            words = match.group(2).split()
            dependencies = words[words.index("DEPS") + 1:] if "DEPS" in words else []
            yield path, line_of(code, match.start()), match.group(1), words[0], dependencies


def cmake_layers(files):
    """CMake targets depend on targets of their own or of lower layers."""
    targets = list(cmake_targets(files))
    layer = {name: path.split("/")[0] for path, _, _, name, _ in targets}
    layer |= {"paceline_proto": "proto", "paceline_grpc": "proto"}
    for path, line, _, name, dependencies in targets:
        if not is_product(path):
            continue
        for dependency in dependencies:
            if layer.get(dependency, "proto") not in LAYERS[layer[name]]:
                yield f"{path}:{line}: {name} must not depend on {dependency}"


def one_target_a_folder(files):
    """A folder's code is one library, beside which a program may stand."""
    counts = collections.Counter(
        (path, kind) for path, _, kind, _, _ in cmake_targets(files) if is_product(path))
    for (path, kind), count in counts.items():
        if count > 1:
            yield f"{path}:1: {count} targets of kind {kind} in one folder, expected one"


def grpc_includes(files):
    """gRPC headers stay in common/rpc, main.cc and the gRPC adapters."""
    adapters = ["common/rpc/*", "*/main.cc", "*_service.h", "*_service.cc", "*/grpc_*"]
    for path, text in files.items():
        if not (is_source(path) and is_product(path)) or matches(path, adapters):
            continue
        for line, include in includes(text):
            if matches(include, ["grpc/*", "grpcpp/*", "*.grpc.pb.h"]):
                yield f"{path}:{line}: {include} may be included only by {', '.join(adapters)}"


def cuda_includes(files):
    """CUDA headers stay in worker/device/cuda."""
    headers = ["cuda*", "cublas*", "cudnn*", "nccl*", "nvtx*"]
    for path, text in files.items():
        if not (is_source(path) and is_product(path)) or matches(path, ["worker/device/cuda/*"]):
            continue
        for line, include in includes(text):
            if matches(include, headers):
                yield f"{path}:{line}: {include} may be included only by worker/device/cuda"


def forbidden_includes(files):
    """Includes that a folder's purpose rules out."""
    for path, text in files.items():
        if not (is_source(path) and is_product(path)):
            continue
        for line, include in includes(text):
            if (path, include) in MAY_INCLUDE:
                continue
            for where, what, why in FORBIDDEN_INCLUDES:
                if matches(path, [where]) and matches(include, what):
                    yield f"{path}:{line}: {include}: {why}"


def reached(include, files):
    """Yields an include and all that it includes in turn, but for what state machines include."""
    seen, left = {include}, [include]
    while left:
        header = left.pop()
        yield header
        text = "" if matches(header, STATE_MACHINES) else files.get(header, "")
        for _, nested in includes(text):
            if nested not in seen:
                seen.add(nested)
                left.append(nested)


def state_machine_io(files):
    """State machines make no calls and have no sockets, files, threads and clocks."""
    for path, text in files.items():
        if not (is_source(path) and matches(path, STATE_MACHINES)):
            continue
        for line, include in includes(text):
            for header in sorted(reached(include, files)):
                if matches(header, IO_HEADERS):
                    through = "" if header == include else f" through {include}"
                    yield f"{path}:{line}: {header}{through}: a state machine has no I/O"
    yield from forbidden_words(files, IO_NAMES, "a state machine has no I/O",
                               lambda path: matches(path, STATE_MACHINES))


def header_guards(files):
    """Headers are guarded by a macro named after their path."""
    for path, text in files.items():
        if not path.endswith((".h", ".cuh")):
            continue
        guard = "PACELINE_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
        expected = f"#ifndef {guard}\n#define {guard}\n"
        if expected not in text or not text.endswith(f"#endif  // {guard}\n"):
            yield f"{path}:1: the header guard is not {guard}"


def environment(files):
    """Only main.cc reads the environment."""
    yield from forbidden_words(
        files, r"\b(?:secure_)?getenv\s*\(", "only main.cc reads the environment",
        lambda path: is_product(path) and posixpath.basename(path) != "main.cc")


def locks(files):
    """Locks are those of common/base/mutex.h."""
    yield from forbidden_words(
        files, r"\bstd::(?:shared_|recursive_|timed_)?mutex\b|\bstd::condition_variable",
        "use common/base/mutex.h",
        lambda path: is_product(path) and path != "common/base/mutex.h")


def names(files):
    """Types say what they are."""
    yield from forbidden_words(
        files, r"\b(?:class|struct)\s+\w*(?:Manager|Helper|Utils?)\b",
        "Manager, Helper and Utils say nothing", is_source)


def strategy_names(files):
    """Strategies say what they are like; nobody else asks for their names."""
    tables = ["common/strategy/strategy_traits.cc", "worker/strategy/strategies.cc"]
    yield from forbidden_words(
        files, r"\bSTRATEGY_[A-Z]\w*", "ask for a trait (common/strategy/strategy_traits.h)",
        lambda path: is_product(path) and path not in tables)


def unfinished(files):
    """Nothing is left for later."""
    yield from forbidden_words(files, r"\b(?:TODO|FIXME|XXX|HACK)\b",
                               "do it, or file it", is_source)


def forbidden_words(files, pattern, why, applies):
    for path, text in files.items():
        if not (is_source(path) and applies(path)):
            continue
        for match in re.finditer(pattern, text):
            yield f"{path}:{line_of(text, match.start())}: {match.group(0)}: {why}"


def file_sizes(files):
    """A file is one idea."""
    for path, text in files.items():
        count = text.count("\n")
        if path.endswith((".h", ".cc", ".cu", ".py", ".proto", "CMakeLists.txt")) and (
                count >= MAX_LINES):
            yield f"{path}:{count}: {count} lines, expected fewer than {MAX_LINES}"


ALL = [
    include_layers, folder_cycles, cmake_layers, one_target_a_folder, grpc_includes,
    cuda_includes, forbidden_includes, state_machine_io, header_guards, environment, locks,
    names, strategy_names, unfinished, file_sizes,
]
