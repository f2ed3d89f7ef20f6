#include "tests/integration/harness/small_job.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "absl/strings/match.h"
#include "tests/integration/harness/time_limit.h"

namespace paceline {
namespace {

constexpr int kSide = 8;
constexpr int kClasses = 4;

constexpr char kJob[] = R"(name: small
strategy: parameter_server
cluster: {ps: 1, worker: 2}
seed: 7
model:
  layers:
    - Input: {shape: [8, 8, 1]}
    - Conv2D: {filters: 4, kernel_size: 3, activation: relu}
    - MaxPooling2D: {}
    - Flatten: {}
    - Dense: {units: 16, activation: relu}
    - Dense: {units: 4}
loss: {SparseCategoricalCrossentropy: {from_logits: true}}
optimizer: {Adam: {learning_rate: 0.01}}
metrics: [accuracy]
data:
  train: {idx: {features: train-images, labels: train-labels}, scale: 0.00392156862745098, shuffle: true}
  test: {idx: {features: test-images, labels: test-labels}, scale: 0.00392156862745098}
batch_size_per_replica: 64
epochs: 3
checkpoint: {every_epochs: 1}
)";

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(value >> shift & 0xFF));
  }
  return bytes;
}

}  // namespace

void WriteExamples(const std::string& folder, const std::string& name,
                   int count) {
  constexpr char kUnsignedBytes = 8;
  std::string images = {0, 0, kUnsignedBytes, 3};
  std::string labels = {0, 0, kUnsignedBytes, 1};
  images += BigEndian(count) + BigEndian(kSide) + BigEndian(kSide);
  labels += BigEndian(count);
  std::mt19937 random(static_cast<uint32_t>(count));
  for (int i = 0; i < count; ++i) {
    const int label = static_cast<int>(random() % kClasses);
    labels.push_back(static_cast<char>(label));
    // The quarter of the image that is bright tells the class.
    for (int pixel = 0; pixel < kSide * kSide; ++pixel) {
      const int quarter =
          pixel / (kSide * kSide / 2) * 2 + pixel % kSide / (kSide / 2);
      const int noise = static_cast<int>(random() % 100);
      images.push_back(static_cast<char>(noise + (quarter == label ? 120 : 0)));
    }
  }
  WriteText(folder + "/" + name + "-images", images);
  WriteText(folder + "/" + name + "-labels", labels);
}

SmallJob::SmallJob() {
  WriteText(path(), kJob);
  WriteExamples(folder_.path(), "train", kTrainExamples);
  WriteExamples(folder_.path(), "test", kTestExamples);
}

Process SmallJob::Run(const std::vector<std::string>& arguments) const {
  std::vector<std::string> all = {"run", path(), "--output", output_dir()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Coordinator(all);
}

Process SmallJob::Coordinator(const std::vector<std::string>& arguments,
                              const std::string& tf_config) const {
  ProcessOptions options;
  options.command = {ProgramPath("coordinator")};
  options.command.insert(options.command.end(), arguments.begin(),
                         arguments.end());
  options.environment = {{"TF_CONFIG", tf_config}};
  if (!tf_config.empty()) {
    options.environment.emplace_back("PACELINE_JOB_SECRET", kTestSecret);
  }
  options.output_path = folder_ / "coordinator";
  return Process(options);
}

nlohmann::json SmallJob::Result() const {
  return ReadJson(output_dir() + "/result.json");
}

nlohmann::json SmallJob::LatestManifest() const {
  std::filesystem::path latest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(
           output_dir() + "/checkpoint", error)) {
    const bool is_complete =
        std::filesystem::exists(entry.path() / "manifest.json");
    if (is_complete && entry.path() > latest) latest = entry.path();
  }
  return ReadJson(latest / "manifest.json");
}

std::string SmallJob::LastShardFile() const {
  std::filesystem::path last;
  for (const auto& entry :
       std::filesystem::directory_iterator(output_dir() + "/checkpoint")) {
    last = std::max(last, entry.path());
  }
  return ReadText(last / "shard-00000-of-00001.safetensors");
}

std::string SmallJob::LastShardTensors() const {
  const std::string file = LastShardFile();
  uint64_t header_size = 0;
  if (file.size() < sizeof(header_size)) return "";
  std::memcpy(&header_size, file.data(), sizeof(header_size));
  return file.substr(sizeof(header_size) + header_size);
}

std::string SmallJob::Log(const std::string& task) const {
  return ReadText(output_dir() + "/logs/" + task + ".log");
}

std::string ProgramPath(const std::string& name) {
  return PACELINE_BIN_DIR "/" + name;
}

int EpochLines(const Process& run) {
  const std::vector<std::string> lines = Lines(run.Output());
  int count = 0;
  bool has_begun = false;
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, "Epoch ")) has_begun = true;
    if (absl::StrContains(line, "/step - ")) {
      count += std::exchange(has_begun, false) ? 1 : 0;
    }
  }
  return count;
}

bool WaitForEpochs(const Process& run, int count) {
  return WaitUntil(kJobLimit, [&] { return EpochLines(run) >= count; });
}

std::vector<double> Column(const nlohmann::json& result,
                           const std::string& key) {
  std::vector<double> values;
  for (const auto& row : result.at("history")) values.push_back(row.at(key));
  return values;
}

}  // namespace paceline
