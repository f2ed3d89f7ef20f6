#include "common/keras/weights_stream.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/status_macros.h"
#include "common/keras/slot_paths.h"

namespace paceline {
namespace {

constexpr int64_t kWrittenBytes = 1 << 20;
constexpr Hdf5Type kFloat32 = {Hdf5Type::Kind::kFloat, 4};
constexpr Hdf5Type kInt64 = {Hdf5Type::Kind::kSigned, 8};

template <typename T>
WrittenDataset NumberAt(std::string path, std::string name,
                        const Hdf5Type& type, T number) {
  return {{std::move(path), type, {}},
          "",
          "",
          std::move(name),
          std::string(reinterpret_cast<const char*>(&number), sizeof(number))};
}

WrittenDataset IterationsOf(int64_t iterations) {
  return NumberAt(kIterationPath, "iteration", kInt64, iterations);
}

WrittenDataset LearningRateOf(double rate) {
  return NumberAt(kLearningRatePath, "learning_rate", kFloat32,
                  static_cast<float>(rate));
}

std::vector<Hdf5Entry> EntriesOf(absl::Span<const WrittenDataset> datasets) {
  std::vector<Hdf5Entry> entries;
  for (const WrittenDataset& dataset : datasets) {
    entries.push_back(dataset.entry);
  }
  return entries;
}

}  // namespace

WrittenDataset VariableDataset(std::string path, const VariableSpec& variable,
                               std::string slot) {
  return {{std::move(path), kFloat32, variable.shape},
          variable.name,
          std::move(slot),
          "",
          ""};
}

std::vector<WrittenDataset> OptimizerState(const TrainedModel& model) {
  const Optimizer& optimizer = model.optimizer;
  std::vector<WrittenDataset> datasets = {IterationsOf(model.iterations)};
  const LearningRate& rate = optimizer.learning_rate;
  if (rate.schedule == nullptr) datasets.push_back(LearningRateOf(rate.value));
  if (model.iterations == 0) return datasets;
  const std::vector<std::string> slots = optimizer.slot_names();
  for (SlotPath& each :
       SlotPaths(model.graph, optimizer, FirstSlotNumber(optimizer))) {
    datasets.push_back(VariableDataset(std::move(each.path),
                                       model.graph.variables[each.variable],
                                       slots[each.slot]));
  }
  for (const double number :
       optimizer.NumbersAfter(optimizer.UpdatesAfter(model.iterations))) {
    datasets.push_back(NumberAt(absl::StrCat(kOptimizerGroup, datasets.size()),
                                absl::StrCat("variable_", datasets.size()),
                                kFloat32, static_cast<float>(number)));
  }
  return datasets;
}

std::vector<WrittenDataset> LossScaleState(const LossScaling& scaling) {
  return {
      IterationsOf(0), LearningRateOf(0),
      NumberAt(kStepCounterPath, "step_counter", kInt64, scaling.step_counter),
      NumberAt(kDynamicScalePath, "dynamic_scale", kFloat32,
               static_cast<float>(scaling.first_scale()))};
}

WeightsStream::WeightsStream(const TrainedModel& model,
                             std::vector<WrittenDataset> datasets,
                             absl::Span<const std::string> groups,
                             absl::Span<const Hdf5Attribute> attributes)
    : model_(model),
      datasets_(std::move(datasets)),
      layout_(EntriesOf(datasets_), groups, attributes) {}

absl::Status WeightsStream::Read(int64_t offset,
                                 absl::Span<std::byte> out) const {
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

absl::Status WeightsStream::WriteTo(const std::string& path) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> file,
                   AtomicFile::Create(path));
  std::vector<std::byte> buffer;
  for (int64_t offset = 0; offset < size_bytes();
       offset += static_cast<int64_t>(buffer.size())) {
    buffer.resize(std::min(kWrittenBytes, size_bytes() - offset));
    RETURN_IF_ERROR(Read(offset, absl::MakeSpan(buffer)));
    RETURN_IF_ERROR(file->Append(
        {reinterpret_cast<const char*>(buffer.data()), buffer.size()}));
  }
  return file->Commit();
}

int64_t WeightsStream::SizeOf(size_t dataset) const {
  const Hdf5Entry& entry = datasets_[dataset].entry;
  return NumElements(entry.shape) * entry.type.size_bytes;
}

size_t WeightsStream::FirstEndingAfter(int64_t offset) const {
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
absl::Status WeightsStream::ReadDataset(size_t index, int64_t offset,
                                        absl::Span<std::byte> out) const {
  const WrittenDataset& dataset = datasets_[index];
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

}  // namespace paceline
