// An HDF5 file, as it lies in a Keras file.
#include <glog/logging.h>

#include <string>

#include "common/base/random_access.h"
#include "common/hdf5/hdf5_attributes.h"
#include "common/hdf5/hdf5_index.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const auto file = RandomAccessTo(std::string(input.rest()));
  (void)ReadHdf5Texts(*file, {"model_config", "training_config"}).ok();
  const auto index = ReadHdf5Index(*file);
  if (!index.ok()) return;
  for (const auto& [path, dataset] : *index) {
    const int64_t size = NumElements(dataset.shape) * dataset.type.size_bytes;
    CHECK_GE(dataset.offset_bytes, 0);
    CHECK_LE(size, file->size_bytes() - dataset.offset_bytes);
  }
}

}  // namespace paceline
