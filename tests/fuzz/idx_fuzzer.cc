// An IDX file, plain or compressed.
#include <glog/logging.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "common/data_source/idx.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

namespace {

// The rows are those of the whole array, also after a look at the last one.
void CheckRows(const std::string& path, const StoredArray& array) {
  auto rows = OpenIdxRows(path, RowOrder::kAny);
  CHECK(rows.ok()) << rows.status();
  const int64_t count = array.shape[0];
  CHECK(rows->Read(count - 1).ok());
  const std::byte* expected = array.data.get();
  for (int64_t i = 0; i < count; ++i) {
    const auto row = rows->Read(i);
    CHECK(row.ok()) << row.status();
    const size_t size_bytes = row->count * SizeOf(row->type);
    CHECK_EQ(std::memcmp(row->data, expected, size_bytes), 0);
    expected += size_bytes;
  }
}

// Reads as far as it goes.
void ReadRows(const std::string& path) {
  auto rows = OpenIdxRows(path, RowOrder::kAny);
  if (!rows.ok()) return;
  for (int64_t i = 0; i < rows->shape()[0]; ++i) {
    if (!rows->Read(i).ok()) return;
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  const std::string path = PathOf(input.rest());
  const auto header = ReadIdxHeader(path);
  const auto array = ReadIdx(path);
  if (!array.ok()) return ReadRows(path);
  CHECK(header->shape == array->shape);
  CheckRows(path, *array);
}

}  // namespace paceline
