#include "worker/device/check_batch.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status CheckType(absl::string_view what, DataType actual,
                       DataType expected) {
  if (actual == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " are ", DataTypeName(actual), ", expected ",
                   DataTypeName(expected)));
}

}  // namespace

int64_t SparseClassCount(const ProgramSpec& spec) {
  return spec.loss->has_sparse_labels() ? spec.graph->output_shape().back() : 0;
}

absl::Status CheckBatch(const Batch& batch, int64_t batch_size, DataType type,
                        int64_t sparse_class_count) {
  if (batch.count != batch_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a batch of ", batch.count, " examples, expected ", batch_size));
  }
  RETURN_IF_ERROR(CheckType("features", batch.features.type, type));
  if (sparse_class_count == 0) {
    return CheckType("labels", batch.labels.type, type);
  }
  RETURN_IF_ERROR(CheckType("labels", batch.labels.type, DataType::kInt32));
  const auto* labels = static_cast<const int32_t*>(batch.labels.data);
  for (int64_t i = 0; i < batch.count; ++i) {
    if (labels[i] < 0 || labels[i] >= sparse_class_count) {
      return absl::InvalidArgumentError(absl::StrCat(
          "label ", labels[i], " of example ", batch.first_example + i,
          " is no class of the model, which has ", sparse_class_count));
    }
  }
  return absl::OkStatus();
}

}  // namespace paceline
