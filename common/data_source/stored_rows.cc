#include "common/data_source/stored_rows.h"

#include <new>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/data_source/stored_array.h"
#include "glog/logging.h"

namespace paceline {
namespace {

class FileBytes : public ArrayBytes {
 public:
  explicit FileBytes(GzipFile file) : file_(std::move(file)) {}

  const std::string& name() const override { return file_.path(); }
  int64_t capacity_bytes() const override { return file_.capacity_bytes(); }
  bool is_compressed() const override { return file_.is_compressed(); }
  absl::StatusOr<int64_t> Read(void* out, int64_t size) override {
    return file_.Read(out, size);
  }
  absl::Status Seek(int64_t offset) override { return file_.Seek(offset); }

 private:
  GzipFile file_;
};

}  // namespace

std::unique_ptr<ArrayBytes> BytesOf(GzipFile file) {
  return std::make_unique<FileBytes>(std::move(file));
}

absl::StatusOr<StoredRows> StoredRows::Make(std::unique_ptr<ArrayBytes> bytes,
                                            StoredValuesSpec spec,
                                            RowOrder order) {
  const int64_t capacity = bytes->capacity_bytes() - spec.offset_bytes;
  ASSIGN_OR_RETURN(const int64_t size,
                   StoredBytes(bytes->name(), spec.type, spec.shape, capacity));
  if (!bytes->is_compressed() && capacity > size) {
    return BytesAfter(bytes->name(), spec.type, spec.shape);
  }
  if (order == RowOrder::kAny && bytes->is_compressed() &&
      size > kMaxCompressedStreamBytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: a stream of a compressed file of %d bytes of values takes too "
        "long to go to an example; expected at most %d, or a file that is not "
        "compressed",
        bytes->name(), size, kMaxCompressedStreamBytes));
  }
  return StoredRows(std::move(bytes), std::move(spec));
}

StoredRows::StoredRows(std::unique_ptr<ArrayBytes> bytes, StoredValuesSpec spec)
    : bytes_(std::move(bytes)),
      spec_(std::move(spec)),
      row_size_(NumElements(spec_.shape) / spec_.shape[0]) {}

absl::StatusOr<Elements> StoredRows::Read(int64_t index) {
  CHECK(index >= 0 && index < spec_.shape[0]);
  const int64_t row_bytes =
      row_size_ * static_cast<int64_t>(SizeOf(spec_.type));
  if (row_ == nullptr) {
    row_.reset(new (std::nothrow) std::byte[row_bytes]);
    if (row_ == nullptr) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%s: no memory for a row of %d bytes", bytes_->name(), row_bytes));
    }
  }
  // After an error the position is unknown.
  if (index != std::exchange(next_, -1)) {
    RETURN_IF_ERROR(bytes_->Seek(spec_.offset_bytes + index * row_bytes));
  }
  ASSIGN_OR_RETURN(const int64_t got, bytes_->Read(row_.get(), row_bytes));
  if (got < row_bytes) return Truncated(bytes_->name(), "row", got, row_bytes);
  next_ = index + 1;
  if (next_ == spec_.shape[0]) {
    RETURN_IF_ERROR(CheckEnd(
        bytes_->name(), spec_.type, spec_.shape,
        [this](void* out, int64_t size) { return bytes_->Read(out, size); }));
  }
  if (spec_.to_machine_order) spec_.to_machine_order(row_.get(), row_size_);
  return Elements{spec_.type, row_.get(), row_size_};
}

}  // namespace paceline
