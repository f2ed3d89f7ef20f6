// Models that together have every layer, activation, loss, metric and
// regularizer, in odd shapes.
#ifndef PACELINE_TESTS_CONFORMANCE_CASES_H_
#define PACELINE_TESTS_CONFORMANCE_CASES_H_

#include <ostream>
#include <string>
#include <vector>

#include "tests/conformance/model_under_test.h"

namespace paceline {

struct Case {
  // For test names: letters, digits, underscores.
  std::string name;
  ModelConfig config;
};

inline void PrintTo(const Case& each, std::ostream* stream) {
  *stream << each.name;
}

const std::vector<Case>& Cases();

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_CASES_H_
