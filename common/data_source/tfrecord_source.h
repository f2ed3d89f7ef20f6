// A source with the tf.train.Examples of TFRecord files.
#ifndef PACELINE_COMMON_DATA_SOURCE_TFRECORD_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_TFRECORD_SOURCE_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "common/config/by_name.h"
#include "common/config/field_table.h"
#include "common/data_source/data_source.h"
#include "common/data_source/example_feature.h"
#include "common/data_source/source_files.h"

namespace paceline {

struct TfrecordSource {
  SourceFiles file;
  ByName<ExampleFeature> features;
  ByName<ExampleFeature> labels;
  std::optional<ByName<ExampleFeature>> sample_weight;
};

const FieldTable<TfrecordSource>& FieldsOf(const TfrecordSource*);

inline bool HasSampleWeight(const TfrecordSource& source) {
  return source.sample_weight.has_value();
}

// Finds the records of all files, and looks into the first for types and
// shapes, which all must have; the others are read as they are needed. Errors
// are those of TfrecordFile, and InvalidArgument that names a feature or file.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenTfrecordSource(
    const TfrecordSource& source,
    Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_TFRECORD_SOURCE_H_
