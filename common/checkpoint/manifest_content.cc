#include "common/checkpoint/manifest_content.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/peer_text.h"
#include "common/limits.h"

namespace paceline {

bool IsFileName(absl::string_view name) {
  constexpr size_t kMaxName = 255;
  return !name.empty() && name.size() <= kMaxName && name != "." &&
         name != ".." && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isgraph(c) && c != '/';
         });
}

v1::CheckpointFile ToProto(const ShardFile& file) {
  v1::CheckpointFile proto;
  proto.set_name(file.file);
  proto.set_size_bytes(static_cast<uint64_t>(file.size_bytes));
  proto.set_crc32(file.crc32);
  proto.set_step(static_cast<uint64_t>(file.step));
  return proto;
}

absl::StatusOr<ShardFile> ReadCheckpointFile(const v1::CheckpointFile& file) {
  constexpr uint64_t kMaxBytes = limits::kMaxToldBytes;
  constexpr uint64_t kMaxStep = limits::kMaxSteps;
  const auto error = [](absl::string_view field, const auto& value,
                        const auto&... expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("file.", field, ": ", value, "; expected ", expected...));
  };
  if (!IsFileName(file.name())) {
    return error("name", PeerText(file.name()), kExpectedFileName);
  }
  if (file.size_bytes() > kMaxBytes) {
    return error("size_bytes", file.size_bytes(), "at most ", kMaxBytes);
  }
  if (file.step() > kMaxStep) {
    return error("step", file.step(), "at most ", kMaxStep);
  }
  return ShardFile{file.name(), static_cast<int64_t>(file.size_bytes()),
                   file.crc32(), static_cast<int64_t>(file.step())};
}

std::vector<StoredVariable> StoredVariables(
    absl::Span<const VariableSpec> variables, const ShardPlan& plan) {
  std::vector<StoredVariable> stored;
  for (const VariableSpec& variable : variables) {
    stored.push_back({variable.name, variable.shape, {}});
  }
  for (const Part& part : plan.parts()) {
    stored[part.variable].parts.push_back({part.shard, part.begin, part.count});
  }
  return stored;
}

std::string ShardFileName(int shard, int shard_count) {
  return absl::StrFormat("shard-%05d-of-%05d.safetensors", shard, shard_count);
}

std::string TensorName(const StoredVariable& variable, const StoredPart& part,
                       absl::string_view slot) {
  std::string name = variable.name;
  if (!slot.empty()) absl::StrAppend(&name, "/", slot);
  if (part.count != NumElements(variable.shape)) {
    absl::StrAppend(&name, "[", part.begin, ":", part.begin + part.count, "]");
  }
  return name;
}

Shape TensorShape(const StoredVariable& variable, const StoredPart& part) {
  Shape shape = variable.shape;
  if (!shape.empty()) {
    shape[0] = part.count / (NumElements(variable.shape) / shape[0]);
  }
  return shape;
}

int64_t RestoredStep(const Manifest& manifest, int shard, int shard_count) {
  if (static_cast<int>(manifest.shards.size()) == shard_count) {
    return manifest.shards[shard].step;
  }
  int64_t step = 0;
  for (const ShardFile& file : manifest.shards) {
    step = std::max(step, file.step);
  }
  return step;
}

}  // namespace paceline
