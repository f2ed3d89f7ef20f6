// A source with a prepared data set of TensorFlow Datasets.
#ifndef PACELINE_COMMON_DATA_SOURCE_TFDS_SOURCE_H_
#define PACELINE_COMMON_DATA_SOURCE_TFDS_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/config/by_name.h"
#include "common/config/field_table.h"
#include "common/config/folder_path.h"
#include "common/data_source/data_source.h"
#include "common/data_source/example_feature.h"

namespace paceline {

struct TfdsSource {
  FolderPath folder;
  std::string split = "train";
  // nullopt: the supervised keys of the data set.
  std::optional<ByName<ExampleFeature>> features;
  std::optional<ByName<ExampleFeature>> labels;
  std::optional<ByName<ExampleFeature>> sample_weight;
};

const FieldTable<TfdsSource>& FieldsOf(const TfdsSource*);

inline bool HasSampleWeight(const TfdsSource& source) {
  return source.sample_weight.has_value();
}

// Reads dataset_info.json and features.json, and opens the split's shards as
// OpenTfrecordSource does. InvalidArgument names the file and the value that is
// not supported, or missing, and files with names of classes; DataLoss if there
// are not as many examples as the files say.
absl::StatusOr<std::unique_ptr<const DataSource>> OpenTfdsSource(
    const TfdsSource& source, Contents contents = Contents::kFeaturesAndLabels);

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_TFDS_SOURCE_H_
