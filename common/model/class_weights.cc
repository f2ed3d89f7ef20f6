#include "common/model/class_weights.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/config/path.h"
#include "common/operations/binary_map.h"
#include "common/operations/cast.h"
#include "common/operations/class_ids.h"
#include "common/operations/compare.h"
#include "common/operations/constant.h"
#include "common/operations/map.h"
#include "common/operations/reduce.h"
#include "common/operations/reshape.h"
#include "common/operations/select.h"

namespace paceline {
namespace {

constexpr char kKey[] = "class_weight";

// The weights of labels that are the class, 0 or 1; others have the weight 1.
// Keras rounds 0.5 and 1.5 to the even number.
op::Tensor WeightsOfBits(const op::Tensor& labels,
                         absl::Span<const double> class_weights) {
  const op::Tensor x = op::Reshape(labels, {labels.dimension(0)});
  const auto constant = [&x](double value) {
    return op::ConstantLike(x, value);
  };
  const op::Tensor of_others = op::Select(
      op::Less(op::Abs(x - 1), 0.5), constant(class_weights[1]), constant(1));
  return op::Select(op::LessEqual(op::Abs(x), 0.5), constant(class_weights[0]),
                    of_others);
}

}  // namespace

absl::StatusOr<std::vector<double>> ReadClassWeights(const v1::Job& job,
                                                     const Shape& output) {
  // In order, so that each process gives the same error.
  const std::map<std::string, double> weights(job.class_weight().begin(),
                                              job.class_weight().end());
  if (weights.empty()) return std::vector<double>();
  if (output.size() != 1) {
    return ConfigError(
        Path(kKey),
        absl::StrCat("the model's output must be a row of classes, got ",
                     ShapeToString(output)));
  }
  // A single number is 0 or 1.
  const int64_t classes = std::max<int64_t>(output[0], 2);
  std::vector<double> by_class(classes, 1);
  for (const auto& [text, weight] : weights) {
    int64_t id = 0;
    if (!absl::SimpleAtoi(text, &id) || id < 0 || id >= classes ||
        absl::StrCat(id) != text) {
      return ConfigError(Path(kKey).Key(text),
                         absl::StrCat("is no class of the model's output; "
                                      "expected a whole number from 0 to ",
                                      classes - 1));
    }
    if (weight > std::numeric_limits<float>::max()) {
      return ConfigError(
          Path(kKey).Key(text),
          absl::StrCat("expected a number of float32, got ", weight));
    }
    by_class[id] = weight;
  }
  return by_class;
}

op::Tensor WeightsOfExamples(const op::Tensor& labels,
                             absl::Span<const double> class_weights,
                             DataType type) {
  const Shape batch = {labels.dimension(0)};
  const bool are_ids = labels.data_type() == DataType::kInt32;
  if (!are_ids && labels.dimension(1) == 1) {
    return WeightsOfBits(labels, class_weights);
  }
  const op::Tensor ids =
      are_ids ? labels : op::Reshape(op::ArgMax(labels), batch);
  const op::Tensor is_class =
      op::OneHot(ids, static_cast<int64_t>(class_weights.size()), type);
  const op::Tensor weights = op::Constants(
      labels.function(), type, {class_weights.begin(), class_weights.end()});
  op::Tensor of_examples = op::Sum(is_class * weights, {1});
  if (are_ids) {
    // A loss may ignore labels that are no class.
    of_examples =
        of_examples + op::Cast(op::Equal(op::Sum(is_class, {1}), 0), type);
  }
  return op::Reshape(of_examples, batch);
}

}  // namespace paceline
