// A Keras file, with its archive: sequential.keras of tests/unit/keras,
// changed.
#include <glog/logging.h>

#include <cstddef>
#include <vector>

#include "common/base/random_access.h"
#include "common/keras/keras_archive.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  auto archive = KerasArchive::Open(PathOf(input.rest()));
  if (!archive.ok()) return;
  const auto config = archive->ReadConfig();
  const auto weights = KerasArchive::OpenWeights(*std::move(archive));
  if (!weights.ok()) return;
  // The end, after the start, since compressed members cannot seek.
  std::vector<std::byte> start(
      static_cast<size_t>((*weights)->size_bytes() > 0 ? 1 : 0));
  const auto size = static_cast<int64_t>(start.size());
  (void)(*weights)->ReadAt(0, absl::MakeSpan(start));
  (void)(*weights)->ReadAt((*weights)->size_bytes() - size,
                           absl::MakeSpan(start));
}

}  // namespace paceline
