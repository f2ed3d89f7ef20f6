// The updates of Keras' optimizers, from tests/interop/keras_expected.json.
#ifndef PACELINE_TESTS_UNIT_OPTIMIZER_KERAS_CASES_H_
#define PACELINE_TESTS_UNIT_OPTIMIZER_KERAS_CASES_H_

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/config/json_value.h"
#include "common/config/proto_value.h"
#include "common/optimizer/make_optimizer.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace paceline {

inline v1::KerasObject OptimizerObject(const std::string& class_name,
                                       const nlohmann::ordered_json& config) {
  v1::KerasObject object;
  object.set_class_name(class_name);
  if (!config.empty()) {
    *object.mutable_config() = ToProtoStruct(ValueFromJson(config));
  }
  return object;
}

inline nlohmann::ordered_json KerasExpected() {
  std::ifstream file(PACELINE_SOURCE_DIR "/tests/interop/keras_expected.json");
  EXPECT_TRUE(file.good());
  return nlohmann::ordered_json::parse(file);
}

struct KerasCase {
  // For messages: class and config.
  std::string text;
  std::unique_ptr<const Optimizer> optimizer;
  // `name`, `shape` and `initial` of a variable, and `gradients`, `values`,
  // with use_ema `averages`, and with accumulation `accumulators` per step.
  nlohmann::ordered_json expected;

  std::string name() const { return expected["name"]; }
  std::vector<int64_t> shape() const { return expected["shape"]; }
};

inline std::vector<KerasCase> KerasCases() {
  const nlohmann::ordered_json expected = KerasExpected();
  std::vector<KerasCase> cases;
  for (const nlohmann::ordered_json& each : expected["optimizers"]) {
    const nlohmann::ordered_json& config = each["config"];
    const std::string class_name = each["class_name"];
    auto optimizer = MakeOptimizer(OptimizerObject(class_name, config));
    EXPECT_TRUE(optimizer.ok()) << optimizer.status();
    cases.push_back({class_name + config.dump(), *std::move(optimizer), each});
  }
  return cases;
}

}  // namespace paceline

#endif  // PACELINE_TESTS_UNIT_OPTIMIZER_KERAS_CASES_H_
