// Statistics of repetitions, for ComputeStatistics.
#ifndef PACELINE_TESTS_BENCHMARK_QUANTILES_H_
#define PACELINE_TESTS_BENCHMARK_QUANTILES_H_

#include <algorithm>
#include <vector>

namespace paceline {

inline double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share *
                                    static_cast<double>(values.size() - 1))];
}

inline double Quartile1(const std::vector<double>& values) {
  return Quantile(values, 0.25);
}

inline double Quartile3(const std::vector<double>& values) {
  return Quantile(values, 0.75);
}

}  // namespace paceline

#endif  // PACELINE_TESTS_BENCHMARK_QUANTILES_H_
