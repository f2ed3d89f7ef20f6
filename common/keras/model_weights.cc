#include "common/keras/model_weights.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <set>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/keras/keras_archive.h"
#include "common/keras/legacy_h5.h"
#include "common/keras/slot_paths.h"
#include "common/keras/weight_paths.h"
#include "common/limits.h"
#include "common/tensor/float16.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

constexpr absl::string_view kLayersGroup = "layers/";
constexpr absl::string_view kOptimizerGroup = "optimizer/vars/";
// How some releases of Keras name that group.
constexpr absl::string_view kOldLayersGroup = "_layer_checkpoint_dependencies/";
// Converted at a time.
constexpr int64_t kConvertedBytes = 1 << 20;

// The file with the weights: a member of an archive, or all of it.
absl::StatusOr<std::unique_ptr<RandomAccess>> OpenWeightsFile(
    const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccess> file, OpenRandomAccess(path));
  std::array<std::byte, 2> start = {};
  if (file->size_bytes() >= 2) {
    RETURN_IF_ERROR(file->ReadAt(0, absl::MakeSpan(start)));
  }
  // A zip archive.
  if (std::memcmp(start.data(), "PK", 2) != 0) return file;
  ASSIGN_OR_RETURN(KerasArchive archive, KerasArchive::Open(path));
  return KerasArchive::OpenWeights(std::move(archive));
}

// The datasets by their paths in the newest releases.
absl::StatusOr<Hdf5Index> ReadIndex(RandomAccess& file) {
  ASSIGN_OR_RETURN(Hdf5Index index, ReadHdf5Index(file));
  for (auto each = index.lower_bound(std::string(kOldLayersGroup));
       each != index.end() && absl::StartsWith(each->first, kOldLayersGroup);) {
    absl::string_view inner = each->first;
    inner.remove_prefix(kOldLayersGroup.size());
    index.emplace(absl::StrCat(kLayersGroup, inner), each->second);
    each = index.erase(each);
  }
  return index;
}

bool IsNumeric(const Hdf5Type& type) {
  using Kind = Hdf5Type::Kind;
  switch (type.kind) {
    case Kind::kFloat:
      return true;
    // bfloat16.
    case Kind::kOpaque:
      return type.size_bytes == 2;
    // The count of a Normalization.
    case Kind::kSigned:
      return type.size_bytes == 4 || type.size_bytes == 8;
    case Kind::kUnsigned:
    case Kind::kOther:
      return false;
  }
  return false;
}

template <typename Stored>
Stored Load(const std::byte* bytes) {
  Stored value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// Converts elements from the file's type.
template <typename T>
void Convert(const Hdf5Type& type, const std::byte* in, absl::Span<T> out) {
  const auto convert = [&](auto load) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<T>(load(in + i * type.size_bytes));
    }
  };
  if (type.kind == Hdf5Type::Kind::kSigned) {
    type.size_bytes == 4 ? convert(Load<int32_t>) : convert(Load<int64_t>);
  } else if (type.kind == Hdf5Type::Kind::kOpaque) {
    convert([](const std::byte* at) {
      return FloatOfBFloat16(Load<uint16_t>(at));
    });
  } else if (type.size_bytes == 2) {
    convert(
        [](const std::byte* at) { return FloatOfFloat16(Load<uint16_t>(at)); });
  } else if (type.size_bytes == 4) {
    convert(Load<float>);
  } else {
    convert(Load<double>);
  }
}

template <typename T>
absl::Status ReadElements(RandomAccess& file, const Hdf5Dataset& dataset,
                          int64_t begin, absl::Span<T> out) {
  const int64_t size = dataset.type.size_bytes;
  int64_t offset = dataset.offset_bytes + begin * size;
  if (dataset.type == Hdf5Type{Hdf5Type::Kind::kFloat, sizeof(T)}) {
    return file.ReadAt(offset,
                       absl::MakeSpan(reinterpret_cast<std::byte*>(out.data()),
                                      out.size() * sizeof(T)));
  }
  std::vector<std::byte> buffer;
  while (!out.empty()) {
    const size_t count =
        std::min(out.size(), static_cast<size_t>(kConvertedBytes / size));
    buffer.resize(count * size);
    RETURN_IF_ERROR(file.ReadAt(offset, absl::MakeSpan(buffer)));
    Convert(dataset.type, buffer.data(), out.subspan(0, count));
    out.remove_prefix(count);
    offset += static_cast<int64_t>(buffer.size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModelWeights>> ModelWeights::Open(
    const std::string& path, const Graph& graph, const ModelTree& model) {
  ASSIGN_OR_RETURN(std::unique_ptr<RandomAccess> file, OpenWeightsFile(path));
  auto weights = absl::WrapUnique(new ModelWeights(path, std::move(file)));
  const absl::Status status = weights->FindVariables(graph, model);
  if (!status.ok()) return Annotate(status, path);
  return weights;
}

absl::StatusOr<Hdf5Dataset> ModelWeights::Find(const std::string& path,
                                               const std::string& name,
                                               const Shape& shape) const {
  const std::string what = absl::StrCat(path, " (", name, ")");
  const auto found = index_.find(path);
  if (found == index_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has no ", what, ", expected a variable of shape ",
                     ShapeToString(shape)));
  }
  const Hdf5Dataset& dataset = found->second;
  if (dataset.shape != shape) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " has shape ", ShapeToString(dataset.shape),
                     ", expected ", ShapeToString(shape)));
  }
  if (!IsNumeric(dataset.type)) {
    return absl::InvalidArgumentError(absl::StrCat(
        what,
        ": expected elements of float16, bfloat16, float32, float64, "
        "int32 or int64"));
  }
  return dataset;
}

absl::Status ModelWeights::FindVariables(const Graph& graph,
                                         const ModelTree& model) {
  ASSIGN_OR_RETURN(index_, ReadIndex(*file_));
  const bool is_legacy = !index_.empty() && IsLegacy(index_);
  std::vector<WeightPath> paths;
  if (is_legacy) {
    ASSIGN_OR_RETURN(paths, LegacyWeightPaths(graph, model, index_));
  } else {
    paths = WeightPaths(model);
  }
  variables_.resize(graph.variables.size());
  std::set<std::string> known;
  for (const WeightPath& each : paths) {
    const VariableSpec& variable = graph.variables[each.variable];
    ASSIGN_OR_RETURN(variables_[each.variable],
                     Find(each.path, variable.name, variable.shape));
    known.insert(each.path);
  }
  for (const auto& [path, dataset] : index_) {
    const bool is_of_model = is_legacy ? IsLegacyWeight(index_, path)
                                       : absl::StartsWith(path, kLayersGroup);
    if (!is_of_model || known.contains(path)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the model has no variable for ", PeerText(path),
                     " of shape ", ShapeToString(dataset.shape)));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ModelWeights::ReadIterations() {
  const auto found = index_.find(kIterationPath);
  if (found == index_.end()) return 0;
  const Hdf5Dataset& dataset = found->second;
  const int64_t size = dataset.type.size_bytes;
  const bool is_whole = dataset.type.kind == Hdf5Type::Kind::kSigned ||
                        dataset.type.kind == Hdf5Type::Kind::kUnsigned;
  if (!is_whole || !dataset.shape.empty() || (size != 4 && size != 8)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", kIterationPath, " has elements of ", size,
                     " bytes and shape ", ShapeToString(dataset.shape),
                     ", expected one integer of 4 or 8 bytes"));
  }
  int64_t iterations = 0;
  RETURN_IF_ERROR(file_->ReadAt(
      dataset.offset_bytes,
      absl::MakeSpan(reinterpret_cast<std::byte*>(&iterations), size)));
  if (iterations < 0 || iterations > limits::kMaxSteps) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": ", kIterationPath, " is ", iterations,
        ", expected the number of updates, from 0 to ", limits::kMaxSteps));
  }
  return iterations;
}

std::optional<ParameterCount> ModelWeights::OptimizerSize() const {
  ParameterCount size;
  for (const auto& [path, dataset] : index_) {
    if (!absl::StartsWith(path, kOptimizerGroup)) continue;
    const int64_t elements = NumElements(dataset.shape);
    size.elements += elements;
    size.bytes += elements * dataset.type.size_bytes;
  }
  if (size.elements == 0) return std::nullopt;
  return size;
}

absl::Status ModelWeights::FindSlots(const Graph& graph,
                                     const Optimizer& optimizer) {
  size_t first = FirstSlotNumber(optimizer);
  const size_t behind = SlotPaths(graph, optimizer, first).size() +
                        optimizer.NumbersAfter(/*iterations=*/1).size();
  size_t expected = first + behind;
  const auto stored = static_cast<size_t>(
      std::count_if(index_.begin(), index_.end(), [](const auto& each) {
        return absl::StartsWith(each.first, kOptimizerGroup);
      }));
  // Keras 2 stores no learning rate.
  if (stored + 1 == expected && first == 2) {
    first = 1;
    expected = stored;
  }
  if (stored != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": ", kOptimizerGroup, " has ", stored, " variables, expected ",
        expected, " for ", optimizer.class_name(),
        " of this model, as if other layers were trained; name the optimizer "
        "in the job to begin without its state"));
  }
  const std::vector<std::string> names = optimizer.slot_names();
  for (const SlotPath& each : SlotPaths(graph, optimizer, first)) {
    const VariableSpec& variable = graph.variables[each.variable];
    absl::StatusOr<Hdf5Dataset> dataset =
        Find(each.path, absl::StrCat(names[each.slot], " of ", variable.name),
             variable.shape);
    if (!dataset.ok()) return Annotate(dataset.status(), path_);
    slots_[{each.variable, each.slot}] = *std::move(dataset);
  }
  return absl::OkStatus();
}

absl::Status ModelWeights::Read(int variable, int64_t begin,
                                absl::Span<float> out) {
  return ReadElements(*file_, variables_[variable], begin, out);
}

absl::Status ModelWeights::Read(int variable, int64_t begin,
                                absl::Span<double> out) {
  return ReadElements(*file_, variables_[variable], begin, out);
}

absl::Status ModelWeights::ReadSlot(int variable, int slot, int64_t begin,
                                    absl::Span<float> out) {
  const auto found = slots_.find({variable, slot});
  if (found == slots_.end()) return absl::OkStatus();
  return ReadElements(*file_, found->second, begin, out);
}

absl::Status ModelWeights::ReadSlot(int variable, int slot, int64_t begin,
                                    absl::Span<double> out) {
  const auto found = slots_.find({variable, slot});
  if (found == slots_.end()) return absl::OkStatus();
  return ReadElements(*file_, found->second, begin, out);
}

}  // namespace paceline
