// The bytes of a HDF5 file with a model's variables and its optimizer's state,
// made as they are read: so no writer holds a model in memory.
#ifndef PACELINE_COMMON_KERAS_WEIGHTS_STREAM_H_
#define PACELINE_COMMON_KERAS_WEIGHTS_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hdf5/hdf5_layout.h"
#include "common/keras/trained_model.h"

namespace paceline {

// The release of Keras whose formats we write.
inline constexpr char kWrittenKerasVersion[] = "3.15.1";

// A dataset of the file: a variable or a slot, or a number.
struct WrittenDataset {
  Hdf5Entry entry;
  // Of a variable.
  std::string variable;
  std::string slot;
  // Of a number: what Keras calls it, and its bytes.
  std::string name;
  std::string number;
};

WrittenDataset VariableDataset(std::string path, const VariableSpec& variable,
                               std::string slot = "");

// The state of the optimizer, without that of a LossScaleOptimizer around it,
// in the order of Keras' optimizer.variables. Paths are those of slot_paths.h.
std::vector<WrittenDataset> OptimizerState(const TrainedModel& model);

// What a LossScaleOptimizer has besides the optimizer in it: the first four of
// its variables (slot_paths.h).
std::vector<WrittenDataset> LossScaleState(const LossScaling& scaling);

// Thread-safe if the model's `read` is.
class WeightsStream {
 public:
  // `model` must outlive it. `groups` and `attributes` are those of Hdf5Layout.
  WeightsStream(const TrainedModel& model, std::vector<WrittenDataset> datasets,
                absl::Span<const std::string> groups,
                absl::Span<const Hdf5Attribute> attributes = {});

  int64_t size_bytes() const { return layout_.size_bytes(); }

  // Bytes [offset, offset + out.size()). Errors are those of the model's
  // `read`.
  absl::Status Read(int64_t offset, absl::Span<std::byte> out) const;

  // Writes all bytes to the file `path`, atomically, 1 MiB at a time. Blocks on
  // the disk.
  absl::Status WriteTo(const std::string& path) const;

 private:
  int64_t SizeOf(size_t dataset) const;
  size_t FirstEndingAfter(int64_t offset) const;
  absl::Status ReadDataset(size_t index, int64_t offset,
                           absl::Span<std::byte> out) const;

  const TrainedModel& model_;
  const std::vector<WrittenDataset> datasets_;
  const Hdf5Layout layout_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_WEIGHTS_STREAM_H_
