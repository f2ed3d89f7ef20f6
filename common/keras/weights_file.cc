#include "common/keras/weights_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/keras/keras_archive.h"
#include "common/keras/legacy_h5.h"
#include "common/keras/safetensors_weights.h"
#include "common/keras/slot_paths.h"
#include "common/keras/tensorflow_weights.h"

namespace paceline {
namespace {

constexpr absl::string_view kLayersGroup = "layers/";
// How some releases of Keras name that group.
constexpr absl::string_view kOldLayersGroup = "_layer_checkpoint_dependencies/";

// Opens the HDF5 file: a member of an archive, or all of it.
absl::Status OpenHdf5(const std::string& path, WeightsFile& file) {
  ASSIGN_OR_RETURN(file.bytes, OpenRandomAccess(path));
  std::array<std::byte, 2> start = {};
  if (file.bytes->size_bytes() >= 2) {
    RETURN_IF_ERROR(file.bytes->ReadAt(0, absl::MakeSpan(start)));
  }
  // A zip archive.
  if (std::memcmp(start.data(), "PK", 2) != 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(KerasArchive archive, KerasArchive::Open(path));
  ASSIGN_OR_RETURN(file.bytes, KerasArchive::OpenWeights(std::move(archive)));
  file.archive = path;
  return absl::OkStatus();
}

Hdf5Index::iterator BeginOfGroup(absl::string_view group, Hdf5Index& index) {
  return index.lower_bound(std::string(group));
}

bool IsInGroup(Hdf5Index::const_iterator each, absl::string_view group,
               const Hdf5Index& index) {
  return each != index.end() && absl::StartsWith(each->first, group);
}

void EraseGroup(absl::string_view group, Hdf5Index& index) {
  auto each = BeginOfGroup(group, index);
  while (IsInGroup(each, group, index)) each = index.erase(each);
}

void RenameGroup(absl::string_view from, absl::string_view to,
                 Hdf5Index& index) {
  auto each = BeginOfGroup(from, index);
  while (IsInGroup(each, from, index)) {
    index.emplace(absl::StrCat(to, each->first.substr(from.size())),
                  each->second);
    each = index.erase(each);
  }
}

// Gives datasets their paths in the newest release, and the state of an
// optimizer in a LossScaleOptimizer that of an optimizer alone (slot_paths.h).
void RenameGroups(Hdf5Index& index) {
  RenameGroup(kOldLayersGroup, kLayersGroup, index);
  if (!IsInGroup(BeginOfGroup(kInnerOptimizerGroup, index),
                 kInnerOptimizerGroup, index)) {
    return;
  }
  for (const auto& [path, read_path] :
       {std::pair(kStepCounterPath, kReadStepCounterPath),
        std::pair(kDynamicScalePath, kReadDynamicScalePath)}) {
    const auto own = index.find(path);
    if (own != index.end()) index.emplace(read_path, own->second);
  }
  EraseGroup(kOptimizerGroup, index);
  RenameGroup(kInnerOptimizerGroup, kOptimizerGroup, index);
}

size_t CountGroup(absl::string_view group, Hdf5Index& index) {
  size_t count = 0;
  for (auto each = BeginOfGroup(group, index); IsInGroup(each, group, index);
       ++each) {
    ++count;
  }
  return count;
}

// Gives the number of updates, and the state of a LossScaleOptimizer, the paths
// that they have in other files.
void TakeLegacySlots(WeightsFile& file) {
  file.legacy_slots = LegacySlots(file.index);
  const LegacySlots& slots = file.legacy_slots;
  file.named_slot_count = slots.size();
  for (const auto& [path, read_path] :
       {std::pair(slots.iteration_path(), kIterationPath),
        std::pair(slots.step_counter_path(), kReadStepCounterPath),
        std::pair(slots.dynamic_scale_path(), kReadDynamicScalePath)}) {
    if (path.empty()) continue;
    file.index.emplace(read_path, file.index.at(path));
    file.index.erase(path);
  }
}

bool HaveSameOrder(const ModelTree& model) {
  const std::vector<WeightPath> of_keras3 = WeightPaths(model);
  const std::vector<WeightPath> of_keras2 =
      WeightPaths(model, KerasRelease::k2);
  return std::equal(of_keras3.begin(), of_keras3.end(), of_keras2.begin(),
                    of_keras2.end(),
                    [](const WeightPath& a, const WeightPath& b) {
                      return a.variable == b.variable && a.path == b.path;
                    });
}

}  // namespace

absl::Status WeightsFile::CheckOrder(const ModelTree& model) const {
  if (HaveSameOrder(model)) return absl::OkStatus();
  if (format == Format::kTensorFlow) {
    if (variables.empty() ||
        variables.begin()->second.release == KerasRelease::k3) {
      return absl::OkStatus();
    }
  } else if (!archive.empty()) {
    ASSIGN_OR_RETURN(const KerasArchive opened, KerasArchive::Open(archive));
    ASSIGN_OR_RETURN(const std::string version, opened.ReadKerasVersion());
    if (absl::StartsWith(version, "3.")) return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "it is of Keras 2, or does not say of which release; because of the "
      "model's masks Keras 2 orders the layers otherwise than Keras 3, which "
      "is not supported yet: expected a .keras of Keras 3, or a legacy .h5, "
      "whose variables have names");
}

bool WeightsFile::IsOfModel(absl::string_view path) const {
  switch (format) {
    case Format::kKeras:
      return absl::StartsWith(path, kLayersGroup);
    case Format::kLegacy:
      return IsLegacyWeight(index, path);
    case Format::kTensorFlow:
      return !IsOfOptimizer(path);
    case Format::kSafetensors:
      break;
  }
  return true;
}

bool WeightsFile::IsOfOptimizer(absl::string_view path) const {
  return format != Format::kSafetensors &&
         (absl::StartsWith(path, "optimizer/") ||
          (format == Format::kLegacy &&
           absl::StartsWith(path, kLegacyOptimizerGroup)));
}

std::string WeightsFile::SlotPathOf(const std::string& variable_path,
                                    absl::string_view slot) const {
  if (format == Format::kLegacy) {
    return legacy_slots.Find(LegacyVariableName(index, variable_path), slot);
  }
  for (const absl::string_view name : NamesOfSlot(slot)) {
    std::string path = absl::StrCat(kNamedSlotGroup, variable_path, "/", name);
    if (index.contains(path)) return path;
  }
  return "";
}

std::string WeightsFile::NameInFile(const std::string& path) const {
  const auto variable = variables.find(path);
  return PeerText(variable == variables.end() ? path : variable->second.key);
}

absl::StatusOr<std::vector<WeightPath>> WeightsFile::Paths(
    const Graph& graph, const ModelTree& model) const {
  switch (format) {
    case Format::kKeras:
      RETURN_IF_ERROR(CheckOrder(model));
      return WeightPaths(model);
    case Format::kLegacy:
      return LegacyWeightPaths(graph, model, index);
    case Format::kTensorFlow:
      RETURN_IF_ERROR(CheckOrder(model));
      return TensorFlowPaths(graph, model);
    case Format::kSafetensors:
      break;
  }
  return TensorPaths(graph, model);
}

absl::Status WeightsFile::CheckValues(const std::string& path) const {
  return checkpoint == nullptr
             ? absl::OkStatus()
             : checkpoint->CheckTensor(variables.at(path).key);
}

absl::StatusOr<WeightsFile> OpenWeightsFile(const std::string& path) {
  WeightsFile file;
  if (IsSafetensorsPath(path)) {
    ASSIGN_OR_RETURN(TensorFile tensors, OpenTensors(path));
    file.format = WeightsFile::Format::kSafetensors;
    file.bytes = std::move(tensors.data);
    file.index = std::move(tensors.index);
    return file;
  }
  if (const std::string index = WeightsFilePath(path);
      IsCheckpointPath(index)) {
    ASSIGN_OR_RETURN(TensorFlowWeights weights, OpenTensorFlowWeights(index));
    file.format = WeightsFile::Format::kTensorFlow;
    file.checkpoint = weights.data.get();
    file.bytes = std::move(weights.data);
    file.index = std::move(weights.index);
    file.variables = std::move(weights.variables);
    file.named_slot_count = CountGroup(kNamedSlotGroup, file.index);
    return file;
  }
  RETURN_IF_ERROR(CheckIsNoPartOfCheckpoint(path));
  RETURN_IF_ERROR(OpenHdf5(path, file));
  absl::StatusOr<Hdf5Index> index = ReadHdf5Index(*file.bytes);
  if (!index.ok()) return Annotate(index.status(), path);
  file.index = *std::move(index);
  RenameGroups(file.index);
  if (!file.index.empty() && IsLegacy(file.index)) {
    file.format = WeightsFile::Format::kLegacy;
    TakeLegacySlots(file);
  }
  return file;
}

}  // namespace paceline
