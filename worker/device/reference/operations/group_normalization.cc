#include "common/operations/group_normalization.h"

#include <cmath>
#include <cstdint>

#include "worker/device/reference/operations/operations.h"

namespace paceline::reference {
namespace {

// The elements of a group.
struct Groups {
  int64_t examples = 0;
  int64_t positions = 0;
  int64_t columns = 0;
  int64_t groups = 0;

  // Groups of `x`; `of_groups` is a tensor of its statistics.
  Groups(const Array& x, const Array& of_groups)
      : examples(x.shape()[0]),
        positions(x.shape()[1]),
        columns(x.shape()[2]),
        groups(of_groups.shape()[1]) {}

  int64_t size() const { return columns / groups; }
  int64_t element_count() const { return positions * size(); }

  // Calls visit(index of the element, its column) for each element of a group
  // of an example. Groups are numbered as in the statistics.
  template <typename Visit>
  void ForEachElement(int64_t group, Visit visit) const {
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t i = 0; i < size(); ++i) {
        const int64_t column = group % groups * size() + i;
        visit((group / groups * positions + p) * columns + column, column);
      }
    }
  }
};

// x, mean, factor and dy, the inputs of gradients.
template <typename T>
struct Statistics {
  absl::Span<const T> x;
  absl::Span<const T> means;
  absl::Span<const T> factors;
  absl::Span<const T> dy;

  explicit Statistics(const Evaluation& evaluation)
      : x(evaluation.input(0).values<T>()),
        means(evaluation.input(1).values<T>()),
        factors(evaluation.input(2).values<T>()),
        dy(evaluation.input(3).values<T>()) {}

  T Normalized(int64_t group, int64_t at) const {
    return (x[at] - means[group]) * factors[group];
  }
};

}  // namespace

void EvaluateGroupNormalization(const op::Operation& operation,
                                const Evaluation& evaluation) {
  const op::GroupNormalizationOptions& options =
      static_cast<const op::GroupNormalizationOperation&>(operation).options();
  const Groups groups(evaluation.input(0), evaluation.outputs[1]);
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const absl::Span<const T> x = evaluation.input(0).values<T>();
    for (int64_t g = 0; g < groups.examples * groups.groups; ++g) {
      const auto count = static_cast<double>(groups.element_count());
      double sum = 0;
      groups.ForEachElement(g, [&](int64_t at, int64_t) { sum += x[at]; });
      const double mean = sum / count;
      double squares = 0;
      groups.ForEachElement(g, [&](int64_t at, int64_t) {
        squares += (x[at] - mean) * (x[at] - mean);
      });
      const double factor = 1 / std::sqrt(squares / count + options.epsilon);
      evaluation.outputs[1].values<T>()[g] = static_cast<T>(mean);
      evaluation.outputs[2].values<T>()[g] = static_cast<T>(factor);
      groups.ForEachElement(g, [&](int64_t at, int64_t column) {
        double y = (x[at] - mean) * factor;
        if (options.has_gamma) y *= evaluation.input(1).values<T>()[column];
        if (options.has_beta) {
          y += evaluation.inputs.back()->values<T>()[column];
        }
        evaluation.output().values<T>()[at] = static_cast<T>(y);
      });
    }
  });
}

void EvaluateGroupNormalizationGradient(const op::Operation& /*operation*/,
                                        const Evaluation& evaluation) {
  const Groups groups(evaluation.input(0), evaluation.input(1));
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const Statistics<T> from(evaluation);
    const auto scaled = [&](int64_t at, int64_t column) {
      const bool has_gamma = evaluation.inputs.size() > 4;
      return has_gamma ? evaluation.input(4).values<T>()[column] * from.dy[at]
                       : from.dy[at];
    };
    for (int64_t g = 0; g < groups.examples * groups.groups; ++g) {
      double sum = 0;
      double products = 0;
      groups.ForEachElement(g, [&](int64_t at, int64_t column) {
        sum += scaled(at, column);
        products += scaled(at, column) * from.Normalized(g, at);
      });
      const auto count = static_cast<double>(groups.element_count());
      groups.ForEachElement(g, [&](int64_t at, int64_t column) {
        evaluation.output().values<T>()[at] = static_cast<T>(
            from.factors[g] * (scaled(at, column) - sum / count -
                               from.Normalized(g, at) * products / count));
      });
    }
  });
}

void EvaluateGroupNormalizationGammaGradient(const op::Operation& operation,
                                             const Evaluation& evaluation) {
  const bool has_beta =
      static_cast<const op::GroupNormalizationGammaGradientOperation&>(
          operation)
          .has_beta();
  const Groups groups(evaluation.input(0), evaluation.input(1));
  WithRealType(evaluation.output().data_type(), [&](auto zero) {
    using T = decltype(zero);
    const Statistics<T> from(evaluation);
    std::vector<double> products(groups.columns);
    std::vector<double> sums(groups.columns);
    for (int64_t g = 0; g < groups.examples * groups.groups; ++g) {
      groups.ForEachElement(g, [&](int64_t at, int64_t column) {
        products[column] += from.dy[at] * from.Normalized(g, at);
        sums[column] += from.dy[at];
      });
    }
    for (int64_t c = 0; c < groups.columns; ++c) {
      evaluation.output().values<T>()[c] = static_cast<T>(products[c]);
      if (has_beta) {
        evaluation.outputs[1].values<T>()[c] = static_cast<T>(sums[c]);
      }
    }
  });
}

}  // namespace paceline::reference
