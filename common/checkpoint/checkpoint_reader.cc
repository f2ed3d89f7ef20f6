#include "common/checkpoint/checkpoint_reader.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/manifest.h"
#include "glog/logging.h"

namespace paceline {
namespace {

// Elements converted at a time.
constexpr size_t kBufferElements = 1 << 16;

template <typename T>
absl::Span<std::byte> AsBytes(absl::Span<T> values) {
  return absl::MakeSpan(reinterpret_cast<std::byte*>(values.data()),
                        values.size() * sizeof(T));
}

// Reads elements stored as `Stored` into elements of type T.
template <typename Stored, typename T>
absl::Status ReadElements(const SafetensorsFile& file, int64_t begin_bytes,
                          absl::Span<T> out) {
  if constexpr (std::is_same_v<Stored, T>) {
    return file.Read(begin_bytes, AsBytes(out));
  } else {
    std::vector<Stored> buffer(std::min(out.size(), kBufferElements));
    while (!out.empty()) {
      const size_t count = std::min(out.size(), buffer.size());
      const auto stored = absl::MakeSpan(buffer.data(), count);
      RETURN_IF_ERROR(file.Read(begin_bytes, AsBytes(stored)));
      for (size_t i = 0; i < count; ++i) out[i] = static_cast<T>(stored[i]);
      begin_bytes += static_cast<int64_t>(count * sizeof(Stored));
      out.remove_prefix(count);
    }
    return absl::OkStatus();
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointReader>> CheckpointReader::Open(
    const std::string& folder) {
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(folder));
  return OpenAs(folder, std::move(manifest));
}

std::unique_ptr<CheckpointReader> CheckpointReader::OpenAs(
    const std::string& folder, Manifest manifest) {
  return absl::WrapUnique(new CheckpointReader(folder, std::move(manifest)));
}

CheckpointReader::CheckpointReader(std::string folder, Manifest manifest)
    : folder_(std::move(folder)),
      manifest_(std::move(manifest)),
      files_(manifest_.shards.size()) {
  for (size_t i = 0; i < manifest_.variables.size(); ++i) {
    variables_[manifest_.variables[i].name] = i;
  }
}

absl::Status CheckpointReader::CheckFits(
    absl::Span<const VariableSpec> variables,
    absl::Span<const std::string> slot_names) const {
  const auto misfit = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("checkpoint ", folder_, " does not fit the job: ", what));
  };
  for (const VariableSpec& variable : variables) {
    const auto found = variables_.find(variable.name);
    if (found == variables_.end()) {
      return misfit(absl::StrCat("it has no variable ", variable.name));
    }
    const Shape& stored = manifest_.variables[found->second].shape;
    if (stored != variable.shape) {
      return misfit(absl::StrCat("its ", variable.name, " has shape ",
                                 ShapeToString(stored), ", the job's ",
                                 ShapeToString(variable.shape)));
    }
  }
  // Names are unique on both sides, so the counts are enough to detect an extra
  // variable.
  if (manifest_.variables.size() != variables.size()) {
    std::set<absl::string_view> wanted;
    for (const VariableSpec& variable : variables) wanted.insert(variable.name);
    for (const StoredVariable& stored : manifest_.variables) {
      if (wanted.count(stored.name) == 0) {
        return misfit(absl::StrCat("the job's model has no variable ",
                                   PeerText(stored.name)));
      }
    }
  }
  for (const std::string& slot : slot_names) {
    if (std::find(manifest_.slot_names.begin(), manifest_.slot_names.end(),
                  slot) == manifest_.slot_names.end()) {
      return misfit(
          absl::StrCat("it lacks the slot ", slot, " of the optimizer"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckpointReader::Read(absl::string_view variable,
                                    absl::string_view slot, int64_t begin,
                                    absl::Span<float> out) {
  return ReadRange(variable, slot, begin, out);
}

absl::Status CheckpointReader::Read(absl::string_view variable,
                                    absl::string_view slot, int64_t begin,
                                    absl::Span<double> out) {
  return ReadRange(variable, slot, begin, out);
}

absl::StatusOr<SafetensorsMetadata> CheckpointReader::ShardMetadata(int shard) {
  ASSIGN_OR_RETURN(const SafetensorsFile* file, File(shard));
  return file->header().metadata;
}

absl::StatusOr<const SafetensorsFile*> CheckpointReader::File(int shard) {
  std::unique_ptr<SafetensorsFile>& file = files_[shard];
  if (file != nullptr) return file.get();
  const ShardFile& expected = manifest_.shards[shard];
  const std::string path = absl::StrCat(folder_, "/", expected.file);
  ASSIGN_OR_RETURN(auto opened, SafetensorsFile::Open(path));
  if (opened->size_bytes() != expected.size_bytes) {
    return absl::DataLossError(
        absl::StrCat(path, " is damaged: it has ", opened->size_bytes(),
                     " bytes, the manifest says ", expected.size_bytes));
  }
  ASSIGN_OR_RETURN(const uint32_t crc32, opened->ComputeCrc32());
  if (crc32 != expected.crc32) {
    return absl::DataLossError(absl::StrCat(path, " is damaged: its CRC-32 is ",
                                            crc32, ", the manifest says ",
                                            expected.crc32));
  }
  file = std::move(opened);
  return file.get();
}

template <typename T>
absl::Status CheckpointReader::ReadRange(absl::string_view variable,
                                         absl::string_view slot, int64_t begin,
                                         absl::Span<T> out) {
  const auto found = variables_.find(variable);
  if (found == variables_.end()) {
    return absl::NotFoundError(
        absl::StrCat("checkpoint ", folder_, " has no variable ", variable));
  }
  const StoredVariable& stored = manifest_.variables[found->second];
  const int64_t count = static_cast<int64_t>(out.size());
  if (begin < 0 || count > NumElements(stored.shape) - begin) {
    return absl::InvalidArgumentError(absl::StrCat(
        "elements ", begin, " to ", begin + count, " do not lie in variable ",
        variable, " of shape ", ShapeToString(stored.shape)));
  }
  auto part = std::partition_point(
      stored.parts.begin(), stored.parts.end(),
      [&](const StoredPart& each) { return each.begin + each.count <= begin; });
  for (; !out.empty(); ++part) {
    const int64_t skipped = begin - part->begin;
    const size_t taken = std::min<size_t>(
        out.size(), static_cast<size_t>(part->count - skipped));
    RETURN_IF_ERROR(
        ReadPart(stored, *part, slot, skipped, out.subspan(0, taken)));
    out.remove_prefix(taken);
    begin += static_cast<int64_t>(taken);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status CheckpointReader::ReadPart(const StoredVariable& variable,
                                        const StoredPart& part,
                                        absl::string_view slot, int64_t begin,
                                        absl::Span<T> out) {
  ASSIGN_OR_RETURN(const SafetensorsFile* file, File(part.shard));
  const std::string name = TensorName(variable, part, slot);
  const std::string path =
      absl::StrCat(folder_, "/", manifest_.shards[part.shard].file);
  const auto found = file->header().tensors.find(name);
  if (found == file->header().tensors.end()) {
    // The manifest does not say which variables were trained; the shard's file
    // does: it has slots only for those.
    if (file->header().tensors.contains(TensorName(variable, part, ""))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "checkpoint ", folder_, " has no ", slot, " of ", variable.name,
          ", which was not trained when it was written; expected the job "
          "to keep it frozen"));
    }
    return absl::DataLossError(absl::StrCat(path, " has no tensor ", name));
  }
  const TensorEntry& entry = found->second;
  const Shape expected = TensorShape(variable, part);
  if (entry.shape != expected ||
      entry.dtype != SafetensorsDtype(manifest_.type)) {
    return absl::DataLossError(
        absl::StrCat(path, ": tensor ", name, " is ", entry.dtype, " of shape ",
                     ShapeToString(entry.shape), "; the manifest says ",
                     SafetensorsDtype(manifest_.type), " of shape ",
                     ShapeToString(expected)));
  }
  const int64_t offset =
      entry.begin_bytes + begin * static_cast<int64_t>(SizeOf(manifest_.type));
  return manifest_.type == DataType::kFloat32
             ? ReadElements<float>(*file, offset, out)
             : ReadElements<double>(*file, offset, out);
}

}  // namespace paceline
