#include "common/config/yaml_reader.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/config/json_escapes.h"
#include "common/config/json_reader.h"
#include "common/config/path.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Value> Read(absl::string_view text) {
  return ReadYaml(text, "job.yaml", limits::kMaxJobBytes);
}

std::string Repeat(absl::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) absl::StrAppend(&repeated, text);
  return repeated;
}

TEST(YamlReader, KeepsOrderAndLines) {
  const auto value = Read(
      "# comment\n"
      "b: 1\n"
      "a:\n"
      "  - x\n"
      "  - Dense:\n"
      "      units: 3\n"
      "empty:\n");
  ASSERT_TRUE(value.ok()) << value.status();
  ASSERT_EQ(value->as_map().size(), 3);
  EXPECT_EQ(value->as_map()[0].key, "b");
  EXPECT_EQ(value->as_map()[0].line, 2);
  EXPECT_EQ(FindLine(*value, Path("a[0]")), 4);
  EXPECT_EQ(FindLine(*value, Path("a[1].Dense.units")), 6);
  // A Keras object's config follows its path at once.
  EXPECT_EQ(FindLine(*value, Path("a[1].units")), 6);
  // What is not there is on the line of what would hold it.
  EXPECT_EQ(FindLine(*value, Path("a[1].unit")), 5);
  EXPECT_EQ(FindLine(*value, Path("a[7]")), 3);
  EXPECT_TRUE(value->Find("empty")->is_null());
}

TEST(YamlReader, ResolvesPlainScalarsByTheCoreSchema) {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) {
    EXPECT_TRUE(ResolvePlainScalar(text).is_null()) << text;
  }
  EXPECT_EQ(ResolvePlainScalar("True"), Value(true));
  EXPECT_EQ(ResolvePlainScalar("FALSE"), Value(false));
  EXPECT_EQ(ResolvePlainScalar("-12"), Value(-12));
  EXPECT_EQ(ResolvePlainScalar("+007"), Value(7));
  EXPECT_EQ(ResolvePlainScalar("0x1F"), Value(31));
  EXPECT_EQ(ResolvePlainScalar("0o17"), Value(15));
  EXPECT_EQ(ResolvePlainScalar("1.5"), Value(1.5));
  EXPECT_EQ(ResolvePlainScalar(".5"), Value(0.5));
  EXPECT_EQ(ResolvePlainScalar("1e-3"), Value(1e-3));
  EXPECT_EQ(ResolvePlainScalar("1."), Value(1.0));
  EXPECT_EQ(ResolvePlainScalar("-.inf"), Value(-INFINITY));
  EXPECT_TRUE(std::isnan(ResolvePlainScalar(".NaN").as_double()));
  // Beyond int64.
  EXPECT_EQ(ResolvePlainScalar("9223372036854775808").kind(),
            Value::Kind::kDouble);
  for (const char* text :
       {"yes", "on", "nan", "inf", "0x", "0xg", "0x-1", "1e", "e5", ".", "-",
        "1_000", "1.2.3", "tRUE", "0b11", "1:30", "+.nan"}) {
    EXPECT_EQ(ResolvePlainScalar(text), Value(text));
  }
}

TEST(YamlReader, QuotedAndTaggedScalarsAreStrings) {
  const auto value = Read("[\"1\", 'true', !!str 5, |\n block\n]");
  // A block scalar cannot stand in a flow list.
  EXPECT_EQ(value.status().code(), absl::StatusCode::kInvalidArgument);
  const auto list = Read("[\"1\", 'true', !!str 5, \"\"]");
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(*list, Value(Value::List{"1", "true", "5", ""}));
}

TEST(YamlReader, ReadsJson) {
  const auto value = Read(
      "{\n\t\"a\": "
      "\"x\\u00e9\\/\\n\\t\\\"\",\r\n\t\"b\":[1,2.5,true,null,-1e3],"
      "\n\t\"c\": {\"d\":\"12\", \"\":{}}\n}\n");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->Find("a")->as_string(), "x\xC3\xA9/\n\t\"");
  EXPECT_EQ(*value->Find("b"),
            Value(Value::List{1, 2.5, true, nullptr, -1000.0}));
  EXPECT_EQ(value->Find("c")->Find("d")->as_string(), "12");
  EXPECT_EQ(value->as_map()[2].line, 4);
}

TEST(JsonEscapes, JoinSurrogates) {
  EXPECT_EQ(JoinSurrogates(R"("a\u00e9\n\")"), R"("a\u00e9\n\")");
  EXPECT_EQ(JoinSurrogates(R"("\\ud83d\ud83d\uDE00\ud83d")"),
            R"("\\ud83d\U0001f600\ud83d")");
  EXPECT_EQ(Read(JoinSurrogates(R"("\ud83d\ude00")"))->as_string(),
            "\xF0\x9F\x98\x80");
}

TEST(YamlReader, TakesAByteOrderMarkAndExpandsAliases) {
  const auto value = Read(
      "\xEF\xBB\xBF"
      "a: &x {q: [1]}\nb: *x\nc: &s 3\nd: *s\n");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value->Find("b"), *value->Find("a"));
  EXPECT_EQ(value->Find("d")->as_int(), 3);
}

TEST(YamlReader, EmptyTextIsNull) {
  EXPECT_TRUE(Read("")->is_null());
  EXPECT_TRUE(Read("# nothing\n")->is_null());
}

struct MalformedYaml {
  std::string text;
  absl::StatusCode code;
  std::string message;
};

TEST(YamlReader, RefusesWithLineAndReason) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const MalformedYaml cases[] = {
      {"a: 1\nb: 2\na: 3\n", kInvalid,
       "job.yaml:3: repeated key \"a\"; it is already on line 1"},
      {"x:\n  {a: 1, \"a\": 2}\n", kInvalid, "job.yaml:2: repeated key \"a\""},
      {"a: [1, 2\nb: 3\n", kInvalid, "job.yaml:2: end of sequence flow"},
      {"a:\n\tb: 1\n", kInvalid, "job.yaml:2: "},
      {"a: 1\n---\nb: 2\n", kInvalid, "job.yaml:2: a second document"},
      {"a: !!python/object x\n", kInvalid,
       "job.yaml:1: tag \"tag:yaml.org,2002:python/object\" is not supported"},
      {"a: !!set {x}\n", kInvalid, "job.yaml:1: tag"},
      {"? [a]\n: 1\n", kInvalid, "job.yaml:1: a key is a list or a map"},
      {"? {a: 1}\n: 1\n", kInvalid, "job.yaml:1: a key is a list or a map"},
      {"~: 1\n", kInvalid, "job.yaml:1: a key is null"},
      {"a: &x 1\n*x : 2\n", kInvalid, "job.yaml:2: a key is an alias"},
      {"a: *x\n", kInvalid, "job.yaml:1: "},
      {"a: &x [*x]\n", kInvalid, "job.yaml:1: an alias of an unclosed value"},
      {"a: 1\nb: \x01\n", kInvalid, "job.yaml:2: a control character"},
      {std::string("a\0b\0", 4), kInvalid, "job.yaml:1: a control character"},
      {"a: \xFF\xFE\n", kInvalid, "job.yaml:1: "},
      {"a: \"\\ud800\"\n", kInvalid, "job.yaml:1: "},
  };
  for (const MalformedYaml& each : cases) {
    const absl::Status status = Read(each.text).status();
    EXPECT_EQ(status.code(), each.code) << each.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message))
        << each.text;
  }
}

TEST(YamlReader, RefusesHostileText) {
  // Nine levels of ten aliases each: a billion values.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [",
                    Repeat(absl::StrCat("*a", i - 1, ", "), 10), "]\n");
  }
  // A long text, many times.
  const std::string echo = absl::StrCat("a: &a ", std::string(100'000, 'x'),
                                        "\nb: [", Repeat("*a, ", 100), "]");
  const MalformedYaml cases[] = {
      {bomb, absl::StatusCode::kResourceExhausted, "more than 1000000 values"},
      {echo, absl::StatusCode::kResourceExhausted, "bytes of text"},
      {absl::StrCat(std::string(500, '['), std::string(500, ']')),
       absl::StatusCode::kResourceExhausted,
       "job.yaml:1: lists and maps nest deeper than 64 levels"},
      {absl::StrCat(Repeat("{a: ", 500), Repeat("}", 500)),
       absl::StatusCode::kResourceExhausted, "nest deeper"},
      {Repeat("- ", 100'000), absl::StatusCode::kResourceExhausted,
       "nest deeper"},
      {std::string(100'000, '['), absl::StatusCode::kInvalidArgument,
       "job.yaml:1"},
      {Repeat("? ", 100'000), absl::StatusCode::kInvalidArgument,
       "a key is a list or a map"},
      {absl::StrCat("a: &a ", Repeat("[", 40), Repeat("]", 40),
                    "\nb: ", Repeat("[", 40), "*a", Repeat("]", 40)),
       absl::StatusCode::kResourceExhausted, "nest deeper"},
      {std::string(limits::kMaxJobBytes + 1, '#'),
       absl::StatusCode::kResourceExhausted,
       "job.yaml: more than 4194304 bytes"},
  };
  for (const MalformedYaml& each : cases) {
    const absl::Status status = Read(each.text).status();
    EXPECT_EQ(status.code(), each.code) << each.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
  }
}

TEST(JsonReader, ReadsWithinLimits) {
  const auto value = ReadJson(
      "\xEF\xBB\xBF{\"a\": [1, -2, 2.5, 18446744073709551615, true, null, "
      "\"\\ud83d\\ude00\"], \"b\": {}}",
      "TF_CONFIG", 1000);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value->Find("a"),
            Value(Value::List{1, -2, 2.5, 18446744073709551615.0, true, nullptr,
                              "\xF0\x9F\x98\x80"}));
  EXPECT_EQ(*value->Find("b"), Value(Value::Map{}));
}

TEST(JsonReader, RefusesWithPositionAndReason) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
  const MalformedYaml cases[] = {
      {"", kInvalid, "TF_CONFIG: parse error at line 1, column 1"},
      {"{\"a\": 1,\n \"b\" 2}", kInvalid,
       "TF_CONFIG: parse error at line 2, column 6"},
      {"{a: 1}", kInvalid, "TF_CONFIG: parse error at line 1, column 2"},
      {"{} x", kInvalid, "TF_CONFIG: parse error at line 1, column 4"},
      {"{\"a\": 1, \"a\": 2}", kInvalid, "TF_CONFIG: repeated key \"a\""},
      {"\"\xFF\"", kInvalid, "ill-formed UTF-8"},
      {std::string(100'000, '['), kExhausted, "nest deeper than 64"},
      {std::string(300'000, ' '), kExhausted, "more than 200000 bytes"},
  };
  for (const MalformedYaml& each : cases) {
    const absl::Status status =
        ReadJson(each.text, "TF_CONFIG", 200'000).status();
    EXPECT_EQ(status.code(), each.code) << each.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
  }
}

}  // namespace
}  // namespace paceline
