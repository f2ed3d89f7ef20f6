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
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/file_window.h"
#include "common/base/row_offsets.h"
#include "common/base/stable_file.h"

namespace paceline {

// Knows where records begin, so that they can be read in any order. Errors name
// the file, the record from 0, and the byte where it begins; others are those
// of StableFile. Thread-safe.
class TfrecordFile {
 public:
  // Larger records are refused.
  static constexpr int64_t kMaxRecordBytes = int64_t{256} << 20;

  // Reads the sizes of all records, not their contents, and keeps at most
  // `max_offsets` of their offsets, 8 bytes each: of all records, or of each
  // second, fourth and so on. InvalidArgument if the file is compressed
  // or a record is too large; DataLoss if it is damaged, cut short, or no file
  // of TFRecords. Blocks on the disk.
  static absl::StatusOr<TfrecordFile> Open(const std::string& path,
                                           size_t max_offsets);

  // It may be 0.
  int64_t record_count() const { return offsets_.row_count(); }
  const std::string& path() const { return file_.path(); }

  // A record, and where it begins.
  struct Record {
    int64_t offset = 0;
    absl::string_view content;
  };
  // Record `index` in [0, record_count()), whose checksums are verified. The
  // content lies in `window`, which may have been used for other records and
  // files. DataLoss if the record is damaged. Blocks on the disk.
  absl::StatusOr<Record> Read(int64_t index, FileWindow& window) const;

  // "train.tfrecord: record 3, at byte 1042", for errors.
  std::string NameOf(int64_t index, int64_t offset) const;

 private:
  TfrecordFile(StableFile file, size_t max_offsets)
      : file_(std::move(file)), offsets_(max_offsets) {}

  absl::Status FindRecords();
  // The size of the content of the record at `offset`, which begins with
  // `header`, unless the file ends before.
  absl::StatusOr<int64_t> SizeOf(int64_t index, int64_t offset,
                                 absl::string_view header) const;
  // Where the record at `offset` ends.
  absl::StatusOr<int64_t> EndOf(int64_t index, int64_t offset,
                                FileWindow& window) const;

  StableFile file_;
  RowOffsets offsets_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TFRECORD_TFRECORD_FILE_H_
