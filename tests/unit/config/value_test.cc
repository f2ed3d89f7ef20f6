#include "common/config/value.h"

#include <cmath>
#include <limits>
#include <string>

#include "common/base/utf8.h"
#include "common/config/json_value.h"
#include "common/config/keras_object.h"
#include "common/config/proto_value.h"
#include "common/config/suggestion.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

const Value& Sample() {
  static const auto& sample = *new Value(Value::Map{
      {"bool", true},
      {"double", 2.5},
      {"int", 7},
      {"list", Value::List{1, "x", nullptr}},
      {"map", Value::Map{{"k", Value::Map{}}}},
  });
  return sample;
}

TEST(Value, GoesThroughStructAndBack) {
  EXPECT_EQ(ValueFromProto(ToProtoStruct(Sample())), Sample());
  // Struct has doubles only: whole ones come back as ints.
  EXPECT_EQ(ValueFromProto(ToProtoValue(10.0)).kind(), Value::Kind::kInt);
  EXPECT_EQ(ValueFromProto(ToProtoValue(1e20)).kind(), Value::Kind::kDouble);
}

TEST(Value, GoesThroughJsonAndBack) {
  EXPECT_EQ(ValueFromJson(ToJson(Sample())), Sample());
  EXPECT_EQ(ToJson(Sample()).dump(),
            R"({"bool":true,"double":2.5,"int":7,"list":[1,"x",null],)"
            R"("map":{"k":{}}})");
}

TEST(Value, ExcerptsStayShort) {
  EXPECT_EQ(Excerpt(3), "3");
  EXPECT_EQ(Excerpt("relu"), "\"relu\"");
  EXPECT_EQ(Excerpt(Value::List{1, "a"}), "[1,\"a\"]");
  EXPECT_EQ(Excerpt(Sample()), "a map");
  // Which JSON has not.
  EXPECT_EQ(Excerpt(std::nan("")), ".nan");
  EXPECT_EQ(Excerpt(std::numeric_limits<double>::infinity()), ".inf");
  EXPECT_EQ(Excerpt(-std::numeric_limits<double>::infinity()), "-.inf");
  EXPECT_LE(Excerpt(std::string(1000, 'x')).size(), 64);
  EXPECT_EQ(Excerpt(Value::List(1000)), "a list of 1000 values");
}

TEST(Suggestion, FindsTypingErrors) {
  const std::vector<std::string> known = {"filters", "kernel_size", "ps"};
  EXPECT_EQ(Suggestion("filter", known), "; did you mean \"filters\"?");
  EXPECT_EQ(Suggestion("KernelSize", known), "; did you mean \"kernel_size\"?");
  EXPECT_EQ(Suggestion("kernelsze", known), "; did you mean \"kernel_size\"?");
  EXPECT_EQ(Suggestion("units", known), "; known: filters, kernel_size, ps");
  EXPECT_EQ(Suggestion(std::string(100'000, 'f'), known),
            "; known: filters, kernel_size, ps");
  EXPECT_EQ(Suggestion("x", {}), "");
}

TEST(KerasObject, ReadsEveryForm) {
  const Value config = Value::Map{{"units", 10}};
  const Value forms[] = {
      Value::Map{{"Dense", config}},
      Value::Map{{"class_name", "Dense"}, {"config", config}},
      Value::Map{{"module", "keras.layers"},
                 {"class_name", "Dense"},
                 {"config", config},
                 {"registered_name", nullptr},
                 {"build_config", Value::Map{}}},
  };
  for (const Value& form : forms) {
    const auto object = ReadKerasObject(form, Path("layer"));
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ(object->class_name, "Dense");
    EXPECT_EQ(object->config, config);
    EXPECT_EQ(WriteKerasObject(*object), forms[0]);
    EXPECT_EQ(SerializeKerasObject("keras.layers", *object),
              Value(Value::Map{{"module", "keras.layers"},
                               {"class_name", "Dense"},
                               {"config", config},
                               {"registered_name", nullptr}}));
    const auto proto = ToProto(*object, Path());
    ASSERT_TRUE(proto.ok()) << proto.status();
    EXPECT_EQ(FromProto(*proto).config, config);
  }
  for (const Value& form :
       {Value("mse"), Value(Value::Map{{"mse", nullptr}})}) {
    const auto object = ReadKerasObject(form, Path("loss"));
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ(object->class_name, "mse");
    EXPECT_EQ(object->config, Value(Value::Map{}));
    EXPECT_EQ(WriteKerasObject(*object), Value("mse"));
  }
}

TEST(KerasObject, LayersSayWhatTheyRead) {
  const Value inputs = Value::List{"left", "right"};
  for (const Value& form :
       {Value(Value::Map{{"Add", nullptr}, {"inputs", inputs}}),
        Value(Value::Map{{"class_name", "Add"},
                         {"inputs", inputs},
                         {"config", Value::Map{}}})}) {
    const auto object = ReadLayerObject(form, Path("layer"));
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ(object->class_name, "Add");
    EXPECT_EQ(object->inputs, (std::vector<std::string>{"left", "right"}));
    EXPECT_EQ(WriteKerasObject(*object),
              Value(Value::Map{{"Add", Value::Map{}}, {"inputs", inputs}}));
    EXPECT_EQ(FromProto(*ToProto(*object, Path())).inputs, object->inputs);
    // Only a layer may.
    EXPECT_EQ(ReadKerasObject(form, Path("loss")).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(
      ReadLayerObject(Value::Map{{"Add", nullptr}, {"inputs", Value::List{}}},
                      Path("layer"))
          .status()
          .message(),
      "layer.inputs: expected the name of a layer, got an empty list");
  EXPECT_EQ(ReadLayerObject(Value::Map{{"Add", nullptr}, {"input", inputs}},
                            Path("layer"))
                .status()
                .message(),
            "layer.input: unknown key; did you mean \"inputs\"?");
  const auto masked = ReadLayerObject(
      Value::Map{{"LSTM", nullptr}, {"masked_by", Value::List{"ids"}}},
      Path("layer"));
  ASSERT_TRUE(masked.ok()) << masked.status();
  EXPECT_EQ(masked->masked_by, std::vector<std::string>{"ids"});
  EXPECT_EQ(ReadLayerObject(WriteKerasObject(*masked), Path())->masked_by,
            masked->masked_by);
  EXPECT_EQ(FromProto(*ToProto(*masked, Path())).masked_by, masked->masked_by);
  // A class that MakeLayer does not know.
  EXPECT_EQ(ReadLayerObject(Value::Map{{"input", nullptr}}, Path("layer"))
                ->class_name,
            "input");
}

TEST(KerasObject, RefusesOtherForms) {
  const std::pair<Value, std::string> cases[] = {
      {3, "layer: expected a class name or a map {Class: {config}}, got 3"},
      {"", "layer: the class name is empty"},
      {Value::Map{}, "layer: expected a class name or a map"},
      {Value::Map{{"Dense", 10}},
       "layer: expected a map (the config of Dense), got 10"},
      {Value::Map{{"Dense", nullptr}, {"units", 3}},
       "is the config indented below its class?"},
      {Value::Map{{"class_name", 3}},
       "layer.class_name: expected a string, got 3"},
      {Value::Map{{"class_name", "Dense"}, {"units", 3}},
       "layer.units: unknown key of a Keras object"},
  };
  for (const auto& [value, message] : cases) {
    const absl::Status status = ReadKerasObject(value, Path("layer")).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  const KerasObject object{"Dropout",
                           Value::Map{{"seed", (int64_t{1} << 53) + 1}}};
  EXPECT_EQ(ToProto(object, Path("layer")).status().message(),
            "layer.seed: must be within 2^53, got 9007199254740993");
}

TEST(Utf8, TellsWellFormedText) {
  EXPECT_TRUE(IsUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82"}) {
    EXPECT_FALSE(IsUtf8(text));
  }
}

}  // namespace
}  // namespace paceline
