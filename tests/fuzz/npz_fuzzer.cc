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

// So are those of values that stay in the archive.
void CheckNpzValues(const NpzArchive& archive, const StoredArray& array) {
  const auto opened = archive.OpenArray("x", /*max_held_bytes=*/0);
  CHECK(opened.ok()) << opened.status();
  const int64_t count = NumElements(array.shape);
  FileWindow window;
  const auto read = ReadElements(*opened, 0, count, window);
  CHECK(read.ok()) << read.status();
  CHECK_EQ(
      std::memcmp(read->data, array.data.get(), count * SizeOf(array.type)), 0);
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
  if (!array.ok()) {
    (void)archive->OpenArray("x", /*max_held_bytes=*/0);
    return ReadNpzRows(path);
  }
  CHECK(header->shape == array->shape);
  CheckNpzRows(path, *array);
  CheckNpzValues(*archive, *array);
}

}  // namespace paceline
