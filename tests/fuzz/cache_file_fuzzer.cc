// A cache of examples: a file, after a byte that says whether its header, and
// whether the checksums of its slots, are made right.
#include <glog/logging.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "common/base/crc32c.h"
#include "common/data_source/cache_file.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

using Content = CacheSlot::Content;

constexpr int64_t kSlots = 3;
constexpr int64_t kCapacity = 24;
constexpr size_t kHeaderBytes = 96;
constexpr size_t kSlotBytes = 16 + kCapacity;

CacheFile::Owner Owner() { return {std::string(64, 'a'), kSlots, kCapacity}; }

// Of a file that is made anew.
const std::string& Header() {
  static const std::string& header = *new std::string([] {
    const std::string path = FolderWith("new", "") + "/new";
    CHECK(CacheFile::Open(path, Owner()).ok());
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }());
  return header;
}

void RightChecksums(std::string& content) {
  for (uint64_t i = 0; i < kSlots; ++i) {
    const size_t begin = kHeaderBytes + i * kSlotBytes;
    if (begin + kSlotBytes > content.size()) return;
    const auto* const bytes =
        reinterpret_cast<const std::byte*>(content.data() + begin);
    const uint32_t crc = ExtendCrc32c(
        ExtendCrc32c(0, {reinterpret_cast<const std::byte*>(&i), sizeof(i)}),
        {bytes + 4, kSlotBytes - 4});
    std::memcpy(content.data() + begin, &crc, sizeof(crc));
  }
}

void CheckSlot(const CacheFile& file, int64_t index, CacheSlot& slot) {
  switch (file.Read(index, slot)) {
    case Content::kValues:
      break;
    case Content::kDataLoss:
    case Content::kInvalidArgument:
      CHECK_LE(CacheFile::ErrorText(slot).size(), slot.bytes().size());
      file.WriteError(index, Content::kDataLoss, "text", slot);
      CHECK(file.Read(index, slot) == Content::kDataLoss);
      CHECK(CacheFile::ErrorText(slot) == "text");
      break;
    case Content::kNothing:
      slot.bytes().front() = std::byte{7};
      file.WriteValues(index, slot);
      CHECK(file.Read(index, slot) == Content::kValues);
      CHECK(slot.bytes().front() == std::byte{7});
      break;
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  const uint32_t choice = input.Below(4);
  std::string content(input.rest());
  if (choice % 2 == 1) content.replace(0, kHeaderBytes, Header());
  if (choice / 2 == 1) RightChecksums(content);
  const auto file =
      CacheFile::Open(FolderWith("cache", content) + "/cache", Owner());
  if (!file.ok()) {
    CHECK(choice % 2 == 0) << file.status();
    return;
  }
  CacheSlot slot(kCapacity);
  for (int64_t i = kSlots - 1; i >= 0; --i) CheckSlot(**file, i, slot);
}

}  // namespace paceline
