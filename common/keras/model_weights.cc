#include "common/keras/model_weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <set>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "common/keras/legacy_h5.h"
#include "common/keras/slot_paths.h"
#include "common/keras/tensorflow_weights.h"
#include "common/keras/weight_paths.h"
#include "common/limits.h"
#include "common/tensor/float16.h"
#include "common/tensor/shape.h"

namespace paceline {
namespace {

// Converted at a time.
constexpr int64_t kConvertedBytes = 1 << 20;

constexpr char kBeginAnew[] =
    "name the optimizer in the job to begin without its state";

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
  ASSIGN_OR_RETURN(WeightsFile file, OpenWeightsFile(path));
  auto weights = absl::WrapUnique(new ModelWeights(path, std::move(file)));
  const absl::Status status = weights->FindVariables(graph, model);
  if (!status.ok()) return Annotate(status, path);
  return weights;
}

absl::StatusOr<std::unique_ptr<ModelWeights>> ModelWeights::OpenByName(
    const std::string& path, const Graph& graph, const Graph* own) {
  ASSIGN_OR_RETURN(WeightsFile file, OpenWeightsFile(path));
  auto weights = absl::WrapUnique(new ModelWeights(path, std::move(file)));
  const absl::Status status = weights->FindByName(graph, own);
  if (!status.ok()) return Annotate(status, path);
  return weights;
}

absl::StatusOr<Hdf5Dataset> ModelWeights::Find(const std::string& path,
                                               const std::string& name,
                                               const Shape& shape) const {
  const std::string place = file_.NameInFile(path);
  const std::string what =
      place == name ? place : absl::StrCat(place, " (", name, ")");
  const auto found = file_.index.find(path);
  if (found == file_.index.end()) {
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
  RETURN_IF_ERROR(file_.CheckValues(path));
  return dataset;
}

absl::Status ModelWeights::FindVariables(const Graph& graph,
                                         const ModelTree& model) {
  ASSIGN_OR_RETURN(const std::vector<WeightPath> paths,
                   file_.Paths(graph, model));
  variables_.resize(graph.variables.size());
  std::set<std::string> known;
  for (const WeightPath& each : paths) {
    const VariableSpec& variable = graph.variables[each.variable];
    ASSIGN_OR_RETURN(variables_[each.variable],
                     Find(each.path, variable.name, variable.shape));
    known.insert(each.path);
  }
  for (const auto& [path, dataset] : file_.index) {
    if (!file_.IsOfModel(path) || known.contains(path)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the model has no variable for ", file_.NameInFile(path),
                     " of shape ", ShapeToString(dataset.shape)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NamedWeight>> ModelWeights::NamesInFile(
    const Graph& graph, const Graph* own) {
  std::vector<NamedWeight> weights;
  switch (file_.format) {
    case WeightsFile::Format::kSafetensors:
      for (const auto& [name, dataset] : file_.index) {
        weights.push_back({name, name, dataset.shape});
      }
      return weights;
    case WeightsFile::Format::kLegacy:
      return LegacyNames(graph, file_.index);
    case WeightsFile::Format::kTensorFlow:
      return TensorFlowNames(graph, file_.index, file_.variables);
    case WeightsFile::Format::kKeras:
      break;
  }
  if (own == nullptr) {
    return absl::InvalidArgumentError(
        "has variables by the structure of a model, without the names of its "
        "layers; expected the .keras of that model, a .safetensors, a legacy "
        ".h5 or a checkpoint of TensorFlow for weights_by_name");
  }
  RETURN_IF_ERROR(FindVariables(*own, own->tree));
  for (WeightPath& each : WeightPaths(own->tree)) {
    const VariableSpec& variable = own->variables[each.variable];
    weights.push_back({variable.name, std::move(each.path), variable.shape});
  }
  return weights;
}

absl::Status ModelWeights::FindByName(const Graph& graph, const Graph* own) {
  ASSIGN_OR_RETURN(const std::vector<NamedWeight> stored,
                   NamesInFile(graph, own));
  match_ = MatchByName(graph, stored);
  if (match_.matched.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected a layer with the name and the shapes of one of the model: ",
        NameMatchReport(match_, path_)));
  }
  variables_.assign(graph.variables.size(), std::nullopt);
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (match_.paths[i].empty()) continue;
    ASSIGN_OR_RETURN(variables_[i],
                     Find(match_.paths[i], graph.variables[i].name,
                          graph.variables[i].shape));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ModelWeights::ReadIterations() {
  ASSIGN_OR_RETURN(const std::optional<int64_t> iterations,
                   ReadCount(kIterationPath));
  return iterations.value_or(0);
}

absl::StatusOr<std::optional<ModelWeights::LossScaleState>>
ModelWeights::ReadLossScale() {
  ASSIGN_OR_RETURN(const std::optional<int64_t> steps,
                   ReadCount(kReadStepCounterPath));
  if (!steps) return std::nullopt;
  ASSIGN_OR_RETURN(const Hdf5Dataset dataset,
                   Find(kReadDynamicScalePath, "the loss scale", {}));
  double scale = 0;
  RETURN_IF_ERROR(
      ReadElements(*file_.bytes, dataset, 0, absl::MakeSpan(&scale, 1)));
  if (!(scale >= std::numeric_limits<float>::min() &&
        scale <= std::numeric_limits<float>::max())) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", kDynamicScalePath, " is ", scale,
                     ", expected the loss scale, a float32 above 0"));
  }
  return LossScaleState{scale, *steps};
}

absl::StatusOr<std::optional<int64_t>> ModelWeights::ReadCount(
    absl::string_view path) {
  const auto found = file_.index.find(std::string(path));
  if (found == file_.index.end()) return std::nullopt;
  const Hdf5Dataset& dataset = found->second;
  const int64_t size = dataset.type.size_bytes;
  const bool is_whole = dataset.type.kind == Hdf5Type::Kind::kSigned ||
                        dataset.type.kind == Hdf5Type::Kind::kUnsigned;
  if (!is_whole || !dataset.shape.empty() || (size != 4 && size != 8)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": ", path, " has elements of ", size,
                     " bytes and shape ", ShapeToString(dataset.shape),
                     ", expected one integer of 4 or 8 bytes"));
  }
  int64_t integer = 0;
  RETURN_IF_ERROR(file_.bytes->ReadAt(
      dataset.offset_bytes,
      absl::MakeSpan(reinterpret_cast<std::byte*>(&integer), size)));
  if (integer < 0 || integer > limits::kMaxSteps) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": ", path, " is ", integer,
        ", expected a number of calls, from 0 to ", limits::kMaxSteps));
  }
  return integer;
}

std::optional<ParameterCount> ModelWeights::OptimizerSize() const {
  ParameterCount size;
  for (const auto& [path, dataset] : file_.index) {
    if (!file_.IsOfOptimizer(path)) continue;
    const int64_t elements = NumElements(dataset.shape);
    size.elements += elements;
    size.bytes += elements * dataset.type.size_bytes;
  }
  if (size.elements == 0) return std::nullopt;
  return size;
}

absl::Status ModelWeights::FindSlots(const Graph& graph,
                                     const Optimizer& optimizer) {
  if (file_.has_named_slots()) {
    return Annotate(FindNamedSlots(graph, optimizer), path_);
  }
  size_t first = FirstSlotNumber(optimizer);
  const size_t behind = SlotPaths(graph, optimizer, first).size() +
                        optimizer.NumbersAfter(/*updates=*/1).size();
  size_t expected = first + behind;
  const auto stored = static_cast<size_t>(std::count_if(
      file_.index.begin(), file_.index.end(), [](const auto& each) {
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
        " of this model, as if other layers were trained; ", kBeginAnew));
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

absl::Status ModelWeights::FindNamedSlots(const Graph& graph,
                                          const Optimizer& optimizer) {
  ASSIGN_OR_RETURN(const std::vector<WeightPath> paths,
                   file_.Paths(graph, graph.tree));
  std::map<int, std::string> path_of;
  for (const WeightPath& each : paths) path_of[each.variable] = each.path;
  const std::vector<std::string> names = optimizer.slot_names();
  for (const SlotPath& each : SlotPaths(graph, optimizer, /*first=*/0)) {
    const VariableSpec& variable = graph.variables[each.variable];
    const std::string& slot = names[each.slot];
    const std::string path = file_.SlotPathOf(path_of[each.variable], slot);
    if (path.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "has no ", slot, " of ", variable.name, ", expected one for ",
          optimizer.class_name(), " of this model; ", kBeginAnew));
    }
    ASSIGN_OR_RETURN(
        Hdf5Dataset dataset,
        Find(path, absl::StrCat(slot, " of ", variable.name), variable.shape));
    slots_[{each.variable, each.slot}] = std::move(dataset);
  }
  // Keras 2 keeps a momentum of SGD even where it is 0.
  if (!slots_.empty() && slots_.size() != file_.named_slot_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", file_.named_slot_count, " slots, expected ", slots_.size(),
        " for ", optimizer.class_name(),
        " of this model, as if other layers were trained; ", kBeginAnew));
  }
  return absl::OkStatus();
}

absl::Status ModelWeights::Read(int variable, int64_t begin,
                                absl::Span<float> out) {
  return ReadElements(*file_.bytes, *variables_[variable], begin, out);
}

absl::Status ModelWeights::Read(int variable, int64_t begin,
                                absl::Span<double> out) {
  return ReadElements(*file_.bytes, *variables_[variable], begin, out);
}

absl::Status ModelWeights::ReadSlot(int variable, int slot, int64_t begin,
                                    absl::Span<float> out) {
  const auto found = slots_.find({variable, slot});
  if (found == slots_.end()) return absl::OkStatus();
  return ReadElements(*file_.bytes, found->second, begin, out);
}

absl::Status ModelWeights::ReadSlot(int variable, int slot, int64_t begin,
                                    absl::Span<double> out) {
  const auto found = slots_.find({variable, slot});
  if (found == slots_.end()) return absl::OkStatus();
  return ReadElements(*file_.bytes, found->second, begin, out);
}

}  // namespace paceline
