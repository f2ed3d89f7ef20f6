#include "common/model/layers/rescaling.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/model/keras_fields.h"
#include "common/model/shape_rule.h"
#include "common/operations/binary_map.h"
#include "common/operations/constant.h"

namespace paceline {
namespace {

// A number, or a list with one number per channel.
Field<Rescaling> PerChannel(const std::string& key,
                            std::vector<double> Rescaling::*member,
                            bool is_required, const std::string& help) {
  FieldInfo info{.key = key,
                 .type = "number, or list of numbers",
                 .expectation = "",
                 .help = help,
                 .is_required = is_required};
  auto read = [member](const Value& value, const Path& path,
                       Rescaling& layer) -> absl::Status {
    if (value.is_list()) {
      return Codec<std::vector<double>>::Read(value, path, layer.*member);
    }
    layer.*member = {0};
    return Codec<double>::Read(value, path, (layer.*member)[0]);
  };
  auto write = [member](const Rescaling& layer) -> std::optional<Value> {
    const std::vector<double>& numbers = layer.*member;
    if (numbers.size() == 1) return Value(numbers[0]);
    return Codec<std::vector<double>>::Write(numbers);
  };
  return Field<Rescaling>(std::move(info), read, write);
}

absl::Status CheckCount(const char* key, const std::vector<double>& numbers,
                        const Shape& input) {
  const auto count = static_cast<int64_t>(numbers.size());
  if (count == 1 || count == input.back()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      key, " must be one number, or one for each of the ", input.back(),
      " channels of input shape ", ShapeToString(input), "; got ", count));
}

}  // namespace

const FieldTable<Rescaling>& Rescaling::Fields() {
  static const auto& table = *new FieldTable<Rescaling>(
      kClassName, "Numbers in another range.",
      LayerFields<Rescaling>(
          {PerChannel("scale", &Rescaling::scale, /*is_required=*/true,
                      "Factor, or one for each channel."),
           PerChannel("offset", &Rescaling::offset, /*is_required=*/false,
                      "What is added then, or one for each channel.")}));
  return table;
}

absl::StatusOr<Shape> Rescaling::OutputShape(
    absl::Span<const Shape> inputs) const {
  RETURN_IF_ERROR(CheckRank(inputs[0], 1));
  RETURN_IF_ERROR(CheckCount("scale", scale, inputs[0]));
  RETURN_IF_ERROR(CheckCount("offset", offset, inputs[0]));
  return inputs[0];
}

double Rescaling::ScaleOf(int64_t channel) const {
  return scale.size() == 1 ? scale[0] : scale[channel];
}

double Rescaling::OffsetOf(int64_t channel) const {
  return offset.size() == 1 ? offset[0] : offset[channel];
}

LoweredLayer Rescaling::Lower(const LayerCall& call) const {
  const op::Tensor& x = call.inputs[0];
  op::Function& function = x.function();
  const op::Tensor factors = op::Constants(function, x.data_type(), scale);
  const op::Tensor terms = op::Constants(function, x.data_type(), offset);
  return x * factors + terms;
}

}  // namespace paceline
