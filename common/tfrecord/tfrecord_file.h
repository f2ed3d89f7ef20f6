// A file of TFRecords, as TensorFlow writes them without compression. Each
// record is
//
//   uint64  its size
//   uint32  masked CRC-32C of the size
//   bytes   its content
//   uint32  masked CRC-32C of the content
//
// in little-endian order. Source: tensorflow/core/lib/io/record_writer.h
#ifndef PACELINE_COMMON_TFRECORD_TFRECORD_FILE_H_
#define PACELINE_COMMON_TFRECORD_TFRECORD_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/random_access.h"

namespace paceline {

// Knows where each record begins, so that they can be read in any order: 8
// bytes of memory a record, and a file descriptor. Errors name the file, the
// record from 0, and the byte where it begins. Thread-safe.
class TfrecordFile {
 public:
  // Larger records are refused.
  static constexpr int64_t kMaxRecordBytes = int64_t{256} << 20;

  // Reads the sizes of all records, not their contents. Errors are those of
  // OpenRandomAccess; InvalidArgument if the file is compressed; DataLoss if it
  // is damaged, cut short, or no file of TFRecords; ResourceExhausted if a
  // record is too large. Blocks on the disk.
  static absl::StatusOr<TfrecordFile> Open(const std::string& path);

  // It may be 0.
  int64_t record_count() const {
    return static_cast<int64_t>(offsets_.size()) - 1;
  }
  const std::string& path() const { return path_; }

  // The content of record `index` in [0, record_count()), whose checksums are
  // verified. It is in `buffer`, which grows as needed and may have been used
  // for other records. DataLoss if the record is damaged, or the file has
  // changed since it was opened. Blocks on the disk.
  absl::StatusOr<absl::string_view> Read(int64_t index,
                                         std::string& buffer) const;

  // "train.tfrecord: record 3, at byte 1042", for errors.
  std::string NameOf(int64_t index) const;

 private:
  TfrecordFile(std::string path, std::unique_ptr<RandomAccess> file)
      : path_(std::move(path)), file_(std::move(file)), offsets_{0} {}

  absl::Status FindRecords();

  std::string path_;
  std::unique_ptr<RandomAccess> file_;
  // Where each record begins, and where the last one ends.
  std::vector<int64_t> offsets_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TFRECORD_TFRECORD_FILE_H_
