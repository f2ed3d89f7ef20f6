// A NumPy file with one array, plain or compressed.
#include <glog/logging.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "common/data_source/npy.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

namespace {

// The rows of what stays in the file are those of the whole array.
void CheckNpyRows(const ArrayValues& opened, const StoredArray& array) {
  CHECK(ShapeOf(opened) == array.shape);
  CHECK(TypeOf(opened) == array.type);
  const int64_t count = array.shape[0];
  const int64_t size = NumElements(array.shape) / count;
  const size_t size_bytes = size * SizeOf(array.type);
  FileWindow window;
  for (int64_t row = count - 1; row >= 0; --row) {
    const auto read = ReadElements(opened, row * size, size, window);
    CHECK(read.ok()) << read.status();
    CHECK_EQ(std::memcmp(read->data, array.data.get() + row * size_bytes,
                         size_bytes),
             0);
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  const std::string path = PathOf(input.rest());
  const auto array = ReadNpy(path);
  const auto opened = OpenNpy(path, /*max_held_bytes=*/0);
  CHECK_EQ(array.ok(), opened.ok()) << array.status() << opened.status();
  if (array.ok()) CheckNpyRows(*opened, *array);
}

}  // namespace paceline
