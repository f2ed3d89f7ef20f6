#include "common/keras/model_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/atomic_file.h"
#include "common/base/status_macros.h"
#include "common/config/json_value.h"
#include "common/hdf5/hdf5_layout.h"
#include "common/keras/keras_archive.h"
#include "common/keras/serialize_model.h"
#include "common/keras/slot_paths.h"
#include "common/keras/weight_paths.h"
#include "common/zip/zip_writer.h"

namespace paceline {
namespace {

// The release of Keras whose format we write.
constexpr char kKerasVersion[] = "3.15.1";
// The group of the model's own variables, of which there are none. Releases of
// Keras before 3.6 do not read a file without it.
const char kRootVariables[] = "vars";
constexpr int64_t kWrittenBytes = 1 << 20;
constexpr Hdf5Type kFloat32 = {Hdf5Type::Kind::kFloat, 4};
constexpr Hdf5Type kInt64 = {Hdf5Type::Kind::kSigned, 8};

// A dataset of the file: a variable or a slot, or a number.
struct Dataset {
  Hdf5Entry entry;
  // Of a variable.
  std::string variable;
  std::string slot;
  // The bytes of a number.
  std::string number;
};

template <typename T>
std::string BytesOf(T number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename T>
Dataset NumberAt(std::string path, const Hdf5Type& type, T number) {
  return {{std::move(path), type, {}}, "", "", BytesOf(number)};
}

// Those of the optimizer, in the order of their numbers.
void AddOptimizer(const TrainedModel& model, std::vector<Dataset>& datasets) {
  const size_t first = datasets.size();
  const Optimizer& optimizer = model.optimizer;
  datasets.push_back(NumberAt(kIterationPath, kInt64, model.iterations));
  const LearningRate& rate = optimizer.learning_rate;
  if (rate.schedule == nullptr) {
    datasets.push_back(
        NumberAt(kLearningRatePath, kFloat32, static_cast<float>(rate.value)));
  }
  if (model.iterations == 0) return;
  const std::vector<std::string> slots = optimizer.slot_names();
  for (SlotPath& each :
       SlotPaths(model.graph, optimizer, FirstSlotNumber(optimizer))) {
    const VariableSpec& variable = model.graph.variables[each.variable];
    datasets.push_back({{std::move(each.path), kFloat32, variable.shape},
                        variable.name,
                        slots[each.slot],
                        ""});
  }
  for (const double number :
       optimizer.NumbersAfter(optimizer.UpdatesAfter(model.iterations))) {
    const std::string path =
        absl::StrCat(kOptimizerGroup, datasets.size() - first);
    datasets.push_back(NumberAt(path, kFloat32, static_cast<float>(number)));
  }
}

// Puts the state of an optimizer, `datasets` from `first` on, into a
// LossScaleOptimizer (slot_paths.h).
void WrapInLossScale(const LossScaling& scaling, size_t first,
                     std::vector<Dataset>& datasets) {
  std::vector<Dataset> around = {
      NumberAt(kIterationPath, kInt64, int64_t{0}),
      NumberAt(kLearningRatePath, kFloat32, 0.0f),
      NumberAt(kStepCounterPath, kInt64, scaling.step_counter),
      NumberAt(kDynamicScalePath, kFloat32,
               static_cast<float>(scaling.first_scale()))};
  for (size_t i = first; i < datasets.size(); ++i) {
    around.push_back(datasets[i]);
    around.back().entry.path = absl::StrCat(kOptimizerGroup, around.size() - 1);
    datasets[i].entry.path = absl::StrCat(kInnerOptimizerGroup, i - first);
  }
  std::move(around.begin(), around.end(), std::back_inserter(datasets));
}

std::vector<Dataset> DatasetsOf(const TrainedModel& model) {
  std::vector<Dataset> datasets;
  for (WeightPath& each : WeightPaths(model.graph.tree)) {
    const VariableSpec& variable = model.graph.variables[each.variable];
    datasets.push_back({{std::move(each.path), kFloat32, variable.shape},
                        variable.name,
                        "",
                        ""});
  }
  const size_t first = datasets.size();
  AddOptimizer(model, datasets);
  const std::optional<LossScaling>& scaling = model.optimizer.loss_scaling;
  if (scaling) WrapInLossScale(*scaling, first, datasets);
  return datasets;
}

// The bytes of the HDF5 file, made as they are read.
class WeightsStream {
 public:
  explicit WeightsStream(const TrainedModel& model)
      : model_(model),
        datasets_(DatasetsOf(model)),
        layout_(EntriesOf(datasets_), {kRootVariables}) {}

  int64_t size_bytes() const { return layout_.size_bytes(); }

  // Bytes [offset, offset + out.size()).
  absl::Status Read(int64_t offset, absl::Span<std::byte> out) const {
    std::fill(out.begin(), out.end(), std::byte{0});
    const int64_t end = offset + static_cast<int64_t>(out.size());
    const auto head = static_cast<int64_t>(layout_.head().size());
    if (offset < head) {
      std::memcpy(out.data(), layout_.head().data() + offset,
                  std::min(end, head) - offset);
    }
    for (size_t i = FirstEndingAfter(offset); i < datasets_.size(); ++i) {
      const int64_t begin = layout_.offset_bytes(i);
      if (begin >= end) break;
      RETURN_IF_ERROR(ReadDataset(i, offset, out));
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<Hdf5Entry> EntriesOf(absl::Span<const Dataset> datasets) {
    std::vector<Hdf5Entry> entries;
    for (const Dataset& each : datasets) entries.push_back(each.entry);
    return entries;
  }

  int64_t SizeOf(size_t dataset) const {
    const Hdf5Entry& entry = datasets_[dataset].entry;
    return NumElements(entry.shape) * entry.type.size_bytes;
  }

  size_t FirstEndingAfter(int64_t offset) const {
    size_t low = 0;
    size_t high = datasets_.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (layout_.offset_bytes(middle) + SizeOf(middle) <= offset) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // Copies what lies of a dataset in `out`, the bytes from `offset` on.
  absl::Status ReadDataset(size_t index, int64_t offset,
                           absl::Span<std::byte> out) const {
    const Dataset& dataset = datasets_[index];
    const int64_t place = layout_.offset_bytes(index);
    const int64_t begin = std::max(offset, place) - place;
    const int64_t end = std::min(offset + static_cast<int64_t>(out.size()),
                                 place + SizeOf(index)) -
                        place;
    std::byte* const to = out.data() + (place + begin - offset);
    if (dataset.variable.empty()) {
      std::memcpy(to, dataset.number.data() + begin, end - begin);
      return absl::OkStatus();
    }
    // Whole elements around the bytes.
    constexpr int64_t kSize = sizeof(float);
    const int64_t first = begin / kSize;
    std::vector<float> elements((end + kSize - 1) / kSize - first);
    RETURN_IF_ERROR(model_.read(dataset.variable, dataset.slot, first,
                                absl::MakeSpan(elements)));
    std::memcpy(to,
                reinterpret_cast<const std::byte*>(elements.data()) +
                    (begin - first * kSize),
                end - begin);
    return absl::OkStatus();
  }

  const TrainedModel& model_;
  const std::vector<Dataset> datasets_;
  const Hdf5Layout layout_;
};

std::string Metadata() {
  const nlohmann::ordered_json json = {
      {"keras_version", kKerasVersion},
      {"date_saved", absl::FormatTime("%Y-%m-%d@%H:%M:%S", absl::Now(),
                                      absl::LocalTimeZone())}};
  return json.dump();
}

}  // namespace

absl::Status WriteKerasModel(const std::string& path,
                             const TrainedModel& model) {
  ASSIGN_OR_RETURN(const Value config,
                   SerializeModel(model.job, model.graph, model.optimizer));
  const WeightsStream weights(model);
  std::vector<ZipContent> members;
  members.push_back(ZipText(kMetadataMember, Metadata()));
  members.push_back(ZipText(kConfigMember, ToJson(config).dump()));
  members.push_back({kWeightsMember, weights.size_bytes(),
                     [&weights](int64_t offset, absl::Span<std::byte> out) {
                       return weights.Read(offset, out);
                     }});
  return WriteZip(path, std::move(members));
}

absl::Status WriteKerasWeights(const std::string& path,
                               const TrainedModel& model) {
  const WeightsStream weights(model);
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::Create(path));
  std::vector<std::byte> buffer;
  for (int64_t offset = 0; offset < weights.size_bytes();
       offset += static_cast<int64_t>(buffer.size())) {
    buffer.resize(std::min(kWrittenBytes, weights.size_bytes() - offset));
    RETURN_IF_ERROR(weights.Read(offset, absl::MakeSpan(buffer)));
    RETURN_IF_ERROR(file->Append(
        {reinterpret_cast<const char*>(buffer.data()), buffer.size()}));
  }
  return file->Commit();
}

}  // namespace paceline
