// program_record: memory, compile time and outputs of the CPU device's
// programs. See --help.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/base/status_macros.h"
#include "common/job/job_model.h"
#include "common/job/job_reader.h"
#include "common/model/philox.h"
#include "dnnl.hpp"
#include "glog/logging.h"
#include "nlohmann/json.hpp"
#include "tests/benchmark/quantiles.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/model_under_test.h"
#include "worker/device/cpu/cpu_device.h"
#include "worker/device/cpu/cpu_state.h"

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kCaseBatchSize = 5;
constexpr int kCompilations = 15;

// --- The processor

// The first processor's value of a field of /proc/cpuinfo.
std::string ProcessorField(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::pair<std::string, std::string> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(field.first) == name) {
      return std::string(absl::StripAsciiWhitespace(field.second));
    }
  }
  return "";
}

// What the bits of a program's outputs depend on, beside the code.
Json Processor() {
  const std::vector<std::string> flags =
      absl::StrSplit(ProcessorField("flags"), ' ');
  Json sets = Json::array();
  for (const char* set : {"avx2", "avx512f", "avx512_vnni", "avx512_bf16",
                          "amx_tile", "amx_bf16"}) {
    if (std::find(flags.begin(), flags.end(), set) != flags.end()) {
      sets.push_back(set);
    }
  }
  const dnnl::version_t& onednn = *dnnl::version();
  return {{"processor", ProcessorField("model name")},
          {"instruction_sets", sets},
          {"onednn",
           absl::StrCat(onednn.major, ".", onednn.minor, ".", onednn.patch)}};
}

// --- Compilation

struct Compilation {
  int64_t arena_bytes = 0;
  double milliseconds = 0;
};

// Empties oneDNN's primitive cache, so that oneDNN compiles as in a new
// process.
void ForgetPrimitives() {
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);
  dnnl::set_primitive_cache_capacity(capacity);
}

// CPU time of this thread, which does all the compiling. Unlike wall time, it
// does not grow with other load on the machine.
double ThreadMilliseconds() {
  timespec time = {};
  CHECK_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
  return 1e3 * static_cast<double>(time.tv_sec) +
         1e-6 * static_cast<double>(time.tv_nsec);
}

// Returns the median time, since the first program takes longer: it also
// touches the arena's memory, which the later ones share.
Compilation Compile(const ProgramSpec& spec, Device& device) {
  const std::unique_ptr<ModelState> state = *device.CreateState(spec);
  std::vector<double> milliseconds;
  for (int i = 0; i < kCompilations; ++i) {
    ForgetPrimitives();
    const double start = ThreadMilliseconds();
    const auto program = device.Compile(spec, *state);
    milliseconds.push_back(ThreadMilliseconds() - start);
    CHECK(program.ok()) << program.status();
  }
  return {static_cast<const CpuState&>(*state).arena_size_bytes(),
          Quantile(milliseconds, 0.5)};
}

// --- Outputs of steps

double NineDigits(double value) {
  double rounded = value;
  CHECK(absl::SimpleAtod(absl::StrFormat("%.9g", value), &rounded));
  return rounded;
}

Json NineDigits(const std::vector<double>& values) {
  Json rounded = Json::array();
  for (const double value : values) rounded.push_back(NineDigits(value));
  return rounded;
}

uint64_t HashOf(const void* data, size_t size_bytes) {
  return StableHash({static_cast<const char*>(data), size_bytes});
}

// Sums up tensors in groups, and hashes every bit of them.
class Digest {
 public:
  explicit Digest(size_t group_count) : groups_(group_count) {}

  void Add(size_t group, const std::vector<double>& values) {
    for (const double value : values) {
      groups_[group].sum += value;
      groups_[group].magnitudes += std::abs(value);
    }
    AddBits(values);
  }

  void AddBits(const std::vector<double>& values) {
    hashes_.push_back(HashOf(values.data(), values.size() * sizeof(double)));
  }

  // By group: the sum of the values, and of their magnitudes.
  Json Sums() const {
    Json sums = Json::array();
    for (const Group& group : groups_) {
      sums.push_back(NineDigits({group.sum, group.magnitudes}));
    }
    return sums;
  }

  std::string Bits() const {
    return absl::StrFormat(
        "%016x", HashOf(hashes_.data(), hashes_.size() * sizeof(uint64_t)));
  }

 private:
  struct Group {
    double sum = 0;
    double magnitudes = 0;
  };
  std::vector<Group> groups_;
  std::vector<uint64_t> hashes_;
};

// A model and what its steps start from.
struct Subject {
  std::string name;
  ModelUnderTest model;
  std::vector<std::vector<double>> variables;
  int64_t batch_size = 0;
};

// Every other state from `first` on. A mean has two states: a total (first = 0)
// and a count (first = 1).
std::vector<double> EveryOther(const std::vector<double>& states,
                               size_t first) {
  std::vector<double> values;
  for (size_t i = first; i < states.size(); i += 2) values.push_back(states[i]);
  return values;
}

// Digests the results of two steps: the gradients, one group per bucket, or the
// outputs, as one group.
Json Outputs(const Subject& subject, Mode mode, Device& device) {
  const BucketLayout& layout = subject.model.layout();
  const bool is_training = mode == Mode::kTrain;
  Digest digest(is_training ? layout.updated_buckets().size() : 1);
  MetricSums sums;
  ModelOnDevice on_device(subject.model, device);
  on_device.SetVariables(subject.variables);
  Examples examples = subject.model.SomeExamples(subject.batch_size);
  for (int step = 0; step < 2; ++step) {
    const StepResult result =
        is_training ? on_device.Train(examples) : on_device.Evaluate(examples);
    for (size_t i = 0; i < result.gradients.size(); ++i) {
      // Frozen variables have none.
      if (result.gradients[i].empty()) continue;
      digest.Add(layout.location(static_cast<int>(i)).bucket,
                 result.gradients[i]);
    }
    if (!is_training) {
      for (const auto& output : result.outputs) digest.Add(0, output);
    }
    digest.AddBits(EveryOther(result.sums.states, 0));
    sums.states.resize(result.sums.states.size());
    sums.Add(result.sums);
    // The next step drops other elements, since dropout depends on the
    // examples' positions.
    examples.first_example += examples.count;
  }
  return {{"totals", NineDigits(EveryOther(sums.states, 0))},
          {"counts", NineDigits(EveryOther(sums.states, 1))},
          {"sums", digest.Sums()},
          {"bits", digest.Bits()}};
}

// --- The record

void Print(const Json& line) { std::cout << line.dump() << std::endl; }

void RecordPrograms(const Subject& subject) {
  for (const Mode mode : {Mode::kTrain, Mode::kEvaluate}) {
    for (const int threads : {1, 2}) {
      CpuDevice device({.threads = threads});
      const Compilation compilation =
          Compile(subject.model.Spec(mode, subject.batch_size), device);
      Json line = {{"name", subject.name},
                   {"is_training", mode == Mode::kTrain},
                   {"threads", threads},
                   {"batch_size", subject.batch_size},
                   {"arena_bytes", compilation.arena_bytes},
                   {"compile_ms", NineDigits(compilation.milliseconds)}};
      line.update(Outputs(subject, mode, device));
      Print(line);
    }
  }
}

absl::Status RecordJob(const std::string& path) {
  JobReaderOptions reader;
  reader.check_files = false;
  ASSIGN_OR_RETURN(const v1::Job job, ReadJobFile(path, {}, reader));
  ASSIGN_OR_RETURN(JobModel job_model, MakeJobModel(job));
  const v1::ClusterSize& cluster = job.cluster();
  ModelUnderTest model(std::move(job_model), Precision::kFloat32,
                       job.partitioner(),
                       std::max(1, static_cast<int>(cluster.ps())));
  std::vector<std::vector<double>> variables = model.InitialVariables();
  RecordPrograms(
      {absl::StrCat("job/", std::filesystem::path(path).stem().string()),
       std::move(model), std::move(variables),
       ReplicaBatchSize(job, static_cast<int>(cluster.worker()))});
  return absl::OkStatus();
}

void RecordCase(const Case& each) {
  ModelUnderTest model(each.config);
  std::vector<std::vector<double>> variables = model.SomeVariables();
  RecordPrograms({absl::StrCat("case/", each.name), std::move(model),
                  std::move(variables), kCaseBatchSize});
}

absl::Status Run(const std::vector<std::string>& job_paths) {
  Print(Processor());
  for (const std::string& path : job_paths) RETURN_IF_ERROR(RecordJob(path));
  for (const Case& each : Cases()) RecordCase(each);
  return absl::OkStatus();
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
  CLI::App app(
      "Records what the CPU device makes of models: those of the jobs, at the "
      "batch size of their replicas, and those of the device conformance "
      "suite; training and evaluation, on 1 and 2 threads. Prints a line of "
      "JSON about the processor, then one for each program: the bytes of its "
      "arena, the median time of a processor to compile it, and of two steps "
      "the sums of loss "
      "and metrics, the sums of the gradients (or the output) and of their "
      "magnitudes, and a hash of all their bits. compare_programs.py compares "
      "two records.");
  app.set_version_flag("--version", PACELINE_VERSION);
  std::vector<std::string> job_paths;
  app.add_option("jobs", job_paths, "Job files. Their data is not read.");
  CLI11_PARSE(app, argc, argv);

  const absl::Status status = paceline::Run(job_paths);
  if (status.ok()) return 0;
  std::cerr << "program_record: " << status.message() << "\n";
  return 1;
}
