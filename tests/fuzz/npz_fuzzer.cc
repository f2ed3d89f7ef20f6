// A NumPy archive, with an array x.
#include <glog/logging.h>

#include "common/data_source/npz.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const auto archive = NpzArchive::Open(PathOf(input.rest()));
  if (!archive.ok()) return;
  const auto header = archive->ReadHeader("x");
  const auto array = archive->Read("x");
  CHECK(!array.ok() || header->shape == array->shape);
}

}  // namespace paceline
