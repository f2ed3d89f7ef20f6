#include "common/model/losses/loss_fields.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace paceline {

Field<Loss> LossNameField() {
  const Accessors<Loss, std::optional<std::string>> name = {
      [](const Loss& loss) { return loss.name; },
      [](Loss& loss, std::optional<std::string> given) {
        if (given) loss.name = *std::move(given);
      }};
  return Optional("name", name, "Name.");
}

Field<Loss> ReductionField() {
  FieldInfo info{.key = "reduction",
                 .type =
                     "`sum_over_batch_size`|`mean`|"
                     "`mean_with_sample_weight`",
                 .expectation = "",
                 .help =
                     "How the losses of examples become one: their mean, "
                     "or, only the last, their sum divided by that of "
                     "their weights."};
  auto read = [](const Value& value, const Path& path, Loss& loss) {
    // The first two are the same.
    for (const char* mean :
         {"sum_over_batch_size", "mean", "mean_with_sample_weight"}) {
      if (value != Value(mean)) continue;
      loss.reduction = mean;
      return absl::OkStatus();
    }
    return ConfigError(
        path,
        absl::StrCat(Excerpt(value),
                     " is not supported yet; expected sum_over_batch_size, "
                     "mean or mean_with_sample_weight"),
        absl::StatusCode::kUnimplemented);
  };
  auto write = [](const Loss& loss) -> std::optional<Value> {
    return Value(loss.reduction);
  };
  return Field<Loss>(std::move(info), read, write);
}

}  // namespace paceline
