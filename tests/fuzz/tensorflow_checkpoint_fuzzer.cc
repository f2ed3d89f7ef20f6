// A checkpoint of TensorFlow. The first byte says what follows: the index; the
// entries of an index and a shard; a graph of objects; or a block of an index.
// Made-up bytes never have the checksums of a table, so these are computed.
#include <glog/logging.h>

#include <map>
#include <set>
#include <string>

#include "common/keras/checkpoint_objects.h"
#include "common/tensorflow_checkpoint/bundle_index.h"
#include "common/tensorflow_checkpoint/checkpoint_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/tensorflow_checkpoint/table_builder.h"

namespace paceline {
namespace {

void ReadFiles(FuzzInput& input) {
  std::map<std::string, std::string> entries;
  for (int count = input.Byte(); count > 0; --count) {
    std::string key = input.Text();
    entries[std::move(key)] = input.Text();
  }
  FolderWith("c.data-00000-of-00001", input.rest());
  const std::string folder =
      FolderWith("c.index", TableOf(entries, /*block_size=*/256));
  const auto file = CheckpointFile::Open(folder + "/c.index");
  if (!file.ok()) return;
  for (const auto& [key, entry] : (*file)->entries()) {
    (void)(*file)->ReadString(key, /*limit_bytes=*/1000).ok();
    if (entry.is_in_parts) continue;
    const int64_t offset = (*file)->OffsetOf(entry);
    CHECK(offset >= 0 && offset <= (*file)->size_bytes() &&
          entry.size_bytes <= (*file)->size_bytes() - offset)
        << key;
    (void)(*file)->CheckTensor(key).ok();
  }
}

void ReadObjects(const FuzzInput& input) {
  const auto variables = FindModelVariables(input.rest());
  if (!variables.ok()) return;
  std::set<std::string> paths;
  for (const CheckpointVariable& each : *variables) {
    CHECK(paths.insert(each.path).second) << each.path;
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  switch (input.Byte()) {
    case 0:
      (void)ReadBundleIndex(input.rest()).ok();
      break;
    case 1:
      ReadFiles(input);
      break;
    case 2:
      ReadObjects(input);
      break;
    case 3:
      (void)ReadBundleIndex(
          TableOfBlocks(input.rest(), IndexOf(input.rest().size())))
          .ok();
      break;
    default:
      (void)ReadBundleIndex(TableOfBlocks(kOneOffset, input.rest())).ok();
  }
}

}  // namespace paceline
