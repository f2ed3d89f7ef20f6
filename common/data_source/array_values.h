// The values of an array of examples: in memory, or in the file where they lie.
//
// Large arrays of NumPy's files stay in their file, whose rows are read as they
// are needed: so the memory of a process does not grow with them, and processes
// of a machine share what the system has in its cache. Rows are read, not
// mapped: a mapped file that somebody cuts would end the process by a signal.
#ifndef PACELINE_COMMON_DATA_SOURCE_ARRAY_VALUES_H_
#define PACELINE_COMMON_DATA_SOURCE_ARRAY_VALUES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/file_window.h"
#include "common/base/stable_file.h"
#include "common/data_source/element.h"
#include "common/tensor/shape.h"

namespace paceline {

// Arrays up to this size are read into memory: labels are small, and would cost
// a call of the system for each example.
inline constexpr int64_t kMaxHeldBytes = int64_t{16} << 20;

// An array in C order, in the machine's byte order, in a file that is open.
struct ArrayInFile {
  ElementType type = ElementType::kUint8;
  Shape shape;
  std::shared_ptr<const StableFile> file;
  // Where the values begin, all of which the file has.
  int64_t offset_bytes = 0;
};

using ArrayValues = std::variant<StoredArray, ArrayInFile>;

ElementType TypeOf(const ArrayValues& values);
const Shape& ShapeOf(const ArrayValues& values);

// A part of a file that a format reads from its beginning on.
class FilePart {
 public:
  // The bytes [begin, end), which the file has.
  FilePart(std::shared_ptr<const StableFile> file, int64_t begin, int64_t end)
      : file_(std::move(file)), position_(begin), end_(end) {}

  // Reads `size` bytes; fewer only at the end. Errors are those of StableFile.
  absl::StatusOr<int64_t> Read(void* out, int64_t size);

  // The array that is all of the rest. It is read into memory if it has at most
  // `max_held_bytes`. Errors are those of ReadStoredArray; `name` is the
  // array's.
  absl::StatusOr<ArrayValues> Rest(const std::string& name, ElementType type,
                                   Shape shape, int64_t max_held_bytes);

 private:
  std::shared_ptr<const StableFile> file_;
  int64_t position_;
  int64_t end_;
};

// Elements [first, first + count) of the array. They are valid as long as
// `values`, and until the next use of `window`, which is for one array alone.
// FailedPrecondition, which names the file and the place, if the file has been
// written to since it was opened.
absl::StatusOr<Elements> ReadElements(const ArrayValues& values, int64_t first,
                                      int64_t count, FileWindow& window);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_ARRAY_VALUES_H_
