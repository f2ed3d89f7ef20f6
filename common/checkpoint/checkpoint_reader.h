// Reads a checkpoint, whatever the number of shards that wrote it.
#ifndef PACELINE_COMMON_CHECKPOINT_CHECKPOINT_READER_H_
#define PACELINE_COMMON_CHECKPOINT_CHECKPOINT_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/checkpoint/manifest.h"
#include "common/checkpoint/safetensors.h"
#include "common/model/variable.h"

namespace paceline {

// Opens a shard's file when something of it is first read, and compares its
// size and CRC-32 with the manifest then. Errors are those of FORMAT.md. Not
// thread-safe. Blocks on the disk.
class CheckpointReader {
 public:
  // `folder` is that of one checkpoint, such as FindLatestCheckpoint finds.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(
      const std::string& folder);

  const Manifest& manifest() const { return manifest_; }

  // InvalidArgument unless the checkpoint has just these variables, of these
  // shapes, with at least these slots.
  absl::Status CheckFits(absl::Span<const VariableSpec> variables,
                         absl::Span<const std::string> slot_names) const;

  // Fills `out` with the elements from `begin` on of a variable ("" as slot) or
  // of one of its slots. Converts between float32 and float64. NotFound if
  // there is no such variable; InvalidArgument if the range does not lie in it.
  absl::Status Read(absl::string_view variable, absl::string_view slot,
                    int64_t begin, absl::Span<float> out);
  absl::Status Read(absl::string_view variable, absl::string_view slot,
                    int64_t begin, absl::Span<double> out);

  // What the shard wrote beside its tensors.
  absl::StatusOr<SafetensorsMetadata> ShardMetadata(int shard);

 private:
  CheckpointReader(std::string folder, Manifest manifest);

  absl::StatusOr<const SafetensorsFile*> File(int shard);
  template <typename T>
  absl::Status ReadRange(absl::string_view variable, absl::string_view slot,
                         int64_t begin, absl::Span<T> out);
  // Elements of the part's tensor from `begin` on, relative to it.
  template <typename T>
  absl::Status ReadPart(const StoredVariable& variable, const StoredPart& part,
                        absl::string_view slot, int64_t begin,
                        absl::Span<T> out);

  const std::string folder_;
  const Manifest manifest_;
  // Indices in the manifest, by name.
  std::map<std::string, size_t, std::less<>> variables_;
  // By shard; null until they are opened.
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINT_READER_H_
