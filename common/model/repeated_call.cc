#include "common/model/repeated_call.h"

#include "absl/strings/str_cat.h"

namespace paceline {

const FieldTable<RepeatedCall>& RepeatedCall::Fields() {
  static const auto& table = *new FieldTable<RepeatedCall>(
      kClassName,
      "A further call of a layer or model, with the same variables.",
      {Optional("name", &RepeatedCall::name,
                "Unique in the model; by default `dense/1` for the first call "
                "of `dense` without a name."),
       Required("layer", &RepeatedCall::layer,
                "The name of an earlier layer of the same model.")});
  return table;
}

std::string RepeatedCallName(absl::string_view layer, int call) {
  return absl::StrCat(layer, "/", call);
}

}  // namespace paceline
