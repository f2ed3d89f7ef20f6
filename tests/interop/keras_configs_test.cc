// Every class is written as Keras serializes it: key by key, in Keras' order,
// and with Keras' types, but for what some releases of Keras 3 do not read.
// keras_configs.json has what Keras writes.
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "common/base/status_macros.h"
#include "common/config/field_table.h"
#include "common/config/json_value.h"
#include "common/config/keras_object.h"
#include "common/config/path.h"
#include "common/config/value.h"
#include "common/model/constraint.h"
#include "common/model/initializer.h"
#include "common/model/loss.h"
#include "common/model/make_layer.h"
#include "common/model/metric.h"
#include "common/model/regularizer.h"
#include "common/optimizer/make_optimizer.h"
#include "common/optimizer/make_schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "paceline/v1/job.pb.h"

namespace paceline {
namespace {

// A config key that older releases of Keras 3 do not know. We write it only
// where it has another value than Keras' default.
struct NewerKey {
  // Empty: any class.
  std::string class_name;
  std::string key;
  nlohmann::ordered_json default_value;
};

const std::vector<NewerKey>& NewerKeys() {
  static const auto& keys = *new std::vector<NewerKey>{
      {"", "input_axes", nullptr},
      {"", "output_axes", nullptr},
      {"", "quantization_config", nullptr},
      {"BatchNormalization", "renorm", false},
      {"BatchNormalization", "renorm_clipping", nullptr},
      {"BatchNormalization", "renorm_momentum", 0.99},
      {"Dice", "axis", nullptr},
      {"InputLayer", "optional", false},
      {"InputLayer", "ragged", false},
      {"MultiHeadAttention", "seed", nullptr},
      {"MultiHeadAttention", "sliding_window", nullptr},
      {"MultiHeadAttention", "use_gate", false},
      {"Tversky", "axis", nullptr},
      {"ZeroPadding1D", "data_format", "channels_last"},
  };
  return keys;
}

// What the newest Keras writes, in the form that all releases of Keras 3 read.
nlohmann::ordered_json ForAllReleases(nlohmann::ordered_json written) {
  if (written.is_structured()) {
    for (auto& each : written) each = ForAllReleases(each);
  }
  if (!written.is_object() || !written.contains("class_name")) return written;
  nlohmann::ordered_json& name = written["class_name"];
  nlohmann::ordered_json& config = written["config"];
  if (name == "DTypePolicy") return config["name"];
  for (const NewerKey& newer : NewerKeys()) {
    const bool is_of_class =
        newer.class_name.empty() || newer.class_name == name;
    const auto entry = config.find(newer.key);
    if (is_of_class && entry != config.end() && *entry == newer.default_value) {
      config.erase(entry);
    }
  }
  if (name == "Orthogonal") name = "OrthogonalInitializer";
  return written;
}

using Rewrite = std::function<absl::StatusOr<Value>(const KerasObject&)>;

absl::StatusOr<Value> RewriteLayer(const KerasObject& object) {
  ASSIGN_OR_RETURN(const auto layer, MakeLayer(object, Path()));
  return Serialize(*layer);
}

absl::StatusOr<Value> RewriteLoss(const KerasObject& object) {
  ASSIGN_OR_RETURN(const auto loss, MakeLoss(object, Path()));
  return Serialize(*loss);
}

// A metric needs a loss that has such labels.
absl::StatusOr<Value> RewriteMetric(const KerasObject& object) {
  const bool is_sparse = absl::StartsWith(object.class_name, "Sparse");
  const KerasObject loss_object{is_sparse ? "SparseCategoricalCrossentropy"
                                          : "MeanSquaredError"};
  ASSIGN_OR_RETURN(const auto loss, MakeLoss(loss_object, Path()));
  google::protobuf::RepeatedPtrField<v1::KerasObject> objects;
  const google::protobuf::RepeatedPtrField<v1::KerasObject> none;
  ASSIGN_OR_RETURN(*objects.Add(), ToProto(object, Path()));
  ASSIGN_OR_RETURN(const auto metrics,
                   MakeMetrics({objects, Path()}, {none, Path()}, loss.get(),
                               /*output=*/{10}, /*prefix=*/""));
  return Serialize(*metrics[0]);
}

absl::StatusOr<Value> RewriteOptimizer(const KerasObject& object) {
  ASSIGN_OR_RETURN(const v1::KerasObject proto, ToProto(object, Path()));
  ASSIGN_OR_RETURN(const auto optimizer, MakeOptimizer(proto));
  return Serialize(*optimizer);
}

absl::StatusOr<Value> RewriteSchedule(const KerasObject& object) {
  ASSIGN_OR_RETURN(const auto schedule, MakeSchedule(object, Path()));
  return Serialize(*schedule);
}

// M is read and written as a member of others.
template <typename M>
absl::StatusOr<Value> RewriteMember(const KerasObject& object) {
  M member;
  RETURN_IF_ERROR(ReadConfig(WriteKerasObject(object), Path(), member));
  return WriteConfig(member);
}

struct Registry {
  // The key in keras_configs.json.
  std::string name;
  std::function<std::vector<ClassReference>()> references;
  // Makes the object that is described, and writes it.
  Rewrite rewrite;
};

void PrintTo(const Registry& registry, std::ostream* out) {
  *out << registry.name;
}

class KerasConfigsTest : public ::testing::TestWithParam<Registry> {
 protected:
  static nlohmann::ordered_json Cases() {
    std::ifstream file(PACELINE_SOURCE_DIR "/tests/interop/keras_configs.json");
    return nlohmann::ordered_json::parse(file)[GetParam().name];
  }

  // As JSON, in which 1 is not 1.0 and the order of keys counts.
  static std::string Rewritten(const KerasObject& object) {
    const absl::StatusOr<Value> written = GetParam().rewrite(object);
    return written.ok() ? ToJson(*written).dump() : written.status().ToString();
  }
};

TEST_P(KerasConfigsTest, EveryClassHasACase) {
  std::set<std::string> with_case;
  for (const auto& each : Cases()) with_case.insert(each["class_name"]);
  std::set<std::string> classes;
  for (const ClassReference& each : GetParam().references()) {
    classes.insert(each.name);
  }
  EXPECT_FALSE(classes.empty());
  EXPECT_EQ(with_case, classes);
}

TEST_P(KerasConfigsTest, WhatArgumentsMakeIsWrittenAsKerasSerializesIt) {
  for (const auto& each : Cases()) {
    EXPECT_EQ(Rewritten({each["class_name"], ValueFromJson(each["arguments"])}),
              ForAllReleases(each["serialized"]).dump());
  }
}

TEST_P(KerasConfigsTest, WhatKerasSerializesIsReadAndWrittenAsItIs) {
  for (const auto& each : Cases()) {
    const auto object =
        ReadKerasObject(ValueFromJson(each["serialized"]), Path());
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ(Rewritten(*object), ForAllReleases(each["serialized"]).dump());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Registries, KerasConfigsTest,
    ::testing::Values(
        Registry{"constraints", ConstraintReferences,
                 RewriteMember<Constraint>},
        Registry{"initializers", InitializerReferences,
                 RewriteMember<std::shared_ptr<const Initializer>>},
        Registry{"layers", LayerReferences, RewriteLayer},
        Registry{"losses", LossReferences, RewriteLoss},
        Registry{"metrics", MetricReferences, RewriteMetric},
        Registry{"optimizers", OptimizerReferences, RewriteOptimizer},
        Registry{"regularizers", RegularizerReferences,
                 RewriteMember<Regularizer>},
        Registry{"schedules", ScheduleReferences, RewriteSchedule}),
    [](const auto& info) { return info.param.name; });

// Keras' own get_config() forgets it.
TEST(HuberConfigTest, HasADeltaThatIsNotTheDefault) {
  const auto written =
      RewriteLoss({"Huber", Value::Map{{"delta", 0.5}, {"name", "huber"}}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(
      ToJson(*written->Find("config")).dump(),
      R"({"name":"huber","reduction":"sum_over_batch_size","delta":0.5})");
}

// Apart from the dtype and the axis, which Keras writes as the defaults they
// are.
TEST(MeanLossConfigTest, IsThatOfKerasMetric) {
  const auto written = RewriteMetric(
      {"CategoricalCrossentropy",
       Value::Map{{"from_logits", true}, {"label_smoothing", 0.5}}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(
      ToJson(*written).dump(),
      R"({"module":"keras.metrics","class_name":"CategoricalCrossentropy",)"
      R"("config":{"name":"categorical_crossentropy","from_logits":true,)"
      R"("label_smoothing":0.5},"registered_name":null})");
}

TEST(MeanLossConfigTest, IsThatOfTheLossWhereKerasHasNoMetric) {
  const auto written =
      RewriteMetric({"Huber", Value::Map{{"delta", 0.5}, {"name", "mine"}}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(ToJson(*written).dump(),
            R"({"module":"keras.losses","class_name":"Huber","config":)"
            R"({"name":"mine","reduction":"sum_over_batch_size","delta":0.5},)"
            R"("registered_name":null})");
}

}  // namespace
}  // namespace paceline
