// A source with one NumPy file (.npy) per array.
#ifndef PACELINE_COMMON_DATA_SOURCE_NPY_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_NPY_SOURCE_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "common/config/by_name.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/data_source/data_source.h"

namespace paceline {

struct NpySource {
  ByName<FilePath> features;
  ByName<FilePath> labels;
  std::optional<ByName<FilePath>> sample_weight;
};

const FieldTable<NpySource>& FieldsOf(const NpySource*);

inline bool HasSampleWeight(const NpySource& source) {
  return source.sample_weight.has_value();
}

// Opens the files; arrays that are large and not compressed stay in them
// (array_values.h). Errors are those of npy.h, and InvalidArgument if the
// numbers of examples differ.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenNpySource(
    const NpySource& source, Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_NPY_SOURCE_H_
