#include "common/data_source/idx_source.h"

#include <string>
#include <utility>

#include "common/base/status_macros.h"
#include "common/config/message_fields.h"
#include "common/data_source/array_source.h"
#include "common/data_source/idx.h"

namespace paceline {

const FieldTable<v1::IdxSource>& v1::FieldsOf(const IdxSource*) {
  static const auto& table = *new FieldTable<IdxSource>(
      "idx", "IDX files, as MNIST comes in, plain or gzip.",
      {Required("features",
                File(&IdxSource::features, &IdxSource::mutable_features),
                "Features, of shape [examples, ...]."),
       Required("labels", File(&IdxSource::labels, &IdxSource::mutable_labels),
                "Labels, of shape [examples] or [examples, classes].")});
  return table;
}

absl::StatusOr<std::unique_ptr<const DataSource>> OpenIdxSource(
    const v1::IdxSource& files) {
  const std::string& features = files.features();
  const std::string& labels = files.labels();
  // The counts are compared before the values are read.
  ASSIGN_OR_RETURN(const IdxHeader feature_header, ReadIdxHeader(features));
  ASSIGN_OR_RETURN(const IdxHeader label_header, ReadIdxHeader(labels));
  RETURN_IF_ERROR(CheckSameCount(features, feature_header.shape, labels,
                                 label_header.shape));
  ASSIGN_OR_RETURN(StoredArray feature_array, ReadIdx(features));
  ASSIGN_OR_RETURN(StoredArray label_array, ReadIdx(labels));
  return MakeArraySource({features, std::move(feature_array)},
                         {labels, std::move(label_array)});
}

}  // namespace paceline
