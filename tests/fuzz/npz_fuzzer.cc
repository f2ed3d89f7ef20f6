// A NumPy archive, with an array x.
#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/data_source/npz.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

namespace {

// The rows are those of the whole array, in order and after a jump back.
void CheckNpzRows(const std::string& path, const StoredArray& array) {
  auto rows = OpenNpzRows(path, "x", RowOrder::kAny);
  CHECK(rows.ok()) << rows.status();
  const int64_t count = std::min<int64_t>(array.shape[0], 64);
  for (int64_t i = 0; i < 2 * count; ++i) {
    const auto row = rows->Read(i % count);
    CHECK(row.ok()) << row.status();
    const size_t size_bytes = row->count * SizeOf(row->type);
    CHECK_EQ(std::memcmp(row->data, array.data.get() + i % count * size_bytes,
                         size_bytes),
             0);
  }
}

// Reads as far as it goes.
void ReadNpzRows(const std::string& path) {
  auto rows = OpenNpzRows(path, "x", RowOrder::kOnce);
  if (!rows.ok()) return;
  for (int64_t i = 0; i < rows->shape()[0]; ++i) {
    if (!rows->Read(i).ok()) return;
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  const std::string path = PathOf(input.rest());
  const auto archive = NpzArchive::Open(path);
  if (!archive.ok()) return;
  const auto header = archive->ReadHeader("x");
  const auto array = archive->Read("x");
  if (!array.ok()) return ReadNpzRows(path);
  CHECK(header->shape == array->shape);
  CheckNpzRows(path, *array);
}

}  // namespace paceline
