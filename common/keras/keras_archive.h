// The members of a `.keras` file: a zip archive with config.json and
// model.weights.h5.
#ifndef PACELINE_COMMON_KERAS_KERAS_ARCHIVE_H_
#define PACELINE_COMMON_KERAS_KERAS_ARCHIVE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/random_access.h"
#include "common/config/value.h"
#include "common/zip/zip_archive.h"

namespace paceline {

inline constexpr char kMetadataMember[] = "metadata.json";
inline constexpr char kConfigMember[] = "config.json";
inline constexpr char kWeightsMember[] = "model.weights.h5";

// Errors name the file and the member: those of ZipArchive, and
// ResourceExhausted above a limit. Blocks on the disk.
class KerasArchive {
 public:
  static absl::StatusOr<KerasArchive> Open(const std::string& path);

  const std::string& path() const { return archive_.path(); }

  // The model as Keras serializes it: {module, class_name, config, ...}.
  absl::StatusOr<Value> ReadConfig() const;

  // The release of Keras that wrote it, "3.15.1"; "" if it does not say so.
  absl::StatusOr<std::string> ReadKerasVersion() const;

  // The HDF5 file with the weights, which takes the archive. Reads all of it to
  // compare its checksum. Keeps a compressed one in memory.
  static absl::StatusOr<std::unique_ptr<RandomAccess>> OpenWeights(
      KerasArchive archive);

 private:
  explicit KerasArchive(ZipArchive archive) : archive_(std::move(archive)) {}
  absl::StatusOr<Value> ReadMember(const char* name) const;

  ZipArchive archive_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_KERAS_KERAS_ARCHIVE_H_
