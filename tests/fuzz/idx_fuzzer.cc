// An IDX file, plain or compressed.
#include <glog/logging.h>

#include "common/data_source/idx.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const std::string path = PathOf(input.rest());
  const auto header = ReadIdxHeader(path);
  const auto array = ReadIdx(path);
  CHECK(!array.ok() || header->shape == array->shape);
}

}  // namespace paceline
