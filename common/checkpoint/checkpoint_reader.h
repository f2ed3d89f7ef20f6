// Reads a checkpoint that was written with any number of shards.
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
#include "common/checkpoint/manifest_content.h"
#include "common/model/variable.h"
#include "common/safetensors/safetensors.h"

namespace paceline {

// Opens a shard's file on first use, and then compares its size and CRC-32 with
// the manifest. Errors are those in FORMAT.md. Not thread-safe. Blocks on the
// disk.
class CheckpointReader {
 public:
  // `folder`: a single checkpoint, such as the result of FindLatestCheckpoint.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(
      const std::string& folder);

  // The same for a checkpoint that `manifest` describes. The folder has no
  // manifest, and of the files perhaps only those that are to be read.
  static std::unique_ptr<CheckpointReader> OpenAs(const std::string& folder,
                                                  Manifest manifest);

  const Manifest& manifest() const { return manifest_; }

  // InvalidArgument unless the checkpoint has exactly these variables with
  // these shapes, and at least these slots.
  absl::Status CheckFits(absl::Span<const VariableSpec> variables,
                         absl::Span<const std::string> slot_names) const;

  // Reads elements of a variable (slot "") or of one of its slots, from element
  // `begin` on, into `out`. Converts between float32 and float64. NotFound if
  // there is no such variable; InvalidArgument if the range exceeds it.
  absl::Status Read(absl::string_view variable, absl::string_view slot,
                    int64_t begin, absl::Span<float> out);
  absl::Status Read(absl::string_view variable, absl::string_view slot,
                    int64_t begin, absl::Span<double> out);

  // The metadata in a shard's file.
  absl::StatusOr<SafetensorsMetadata> ShardMetadata(int shard);

 private:
  CheckpointReader(std::string folder, Manifest manifest);

  absl::StatusOr<const SafetensorsFile*> File(int shard);
  template <typename T>
  absl::Status ReadRange(absl::string_view variable, absl::string_view slot,
                         int64_t begin, absl::Span<T> out);
  // Reads elements of a part's tensor; `begin` is relative to the part.
  template <typename T>
  absl::Status ReadPart(const StoredVariable& variable, const StoredPart& part,
                        absl::string_view slot, int64_t begin,
                        absl::Span<T> out);

  const std::string folder_;
  const Manifest manifest_;
  // Indices into the manifest's variables, by name.
  std::map<std::string, size_t, std::less<>> variables_;
  // By shard; null until opened.
  std::vector<std::unique_ptr<SafetensorsFile>> files_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_CHECKPOINT_CHECKPOINT_READER_H_
