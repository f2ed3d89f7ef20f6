#include "coordinator/cli/service/yaml_text.h"

#include "common/config/json_value.h"
#include "common/config/yaml_reader.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::nlohmann::ordered_json;

const ordered_json& Example() {
  static const auto& json = *new ordered_json(ordered_json::parse(R"({
    "id": "job-1", "state": "running", "starts": 2, "error": null,
    "word": "yes", "number": "17", "time": "2026-01-02T03:04:05Z",
    "text": "a: b\n\"c\"", "empty": "", "nothing": [], "void": {},
    "list": ["x", [1, 2], {"a": 1, "b": {"c": [true]}}],
    "odd key:": 0.5})"));
  return json;
}

TEST(YamlTextTest, QuotesWhatYamlWouldTakeForSomethingElse) {
  EXPECT_EQ(YamlText(Example()), R"(id: job-1
state: running
starts: 2
error: null
word: "yes"
number: "17"
time: "2026-01-02T03:04:05Z"
text: "a: b\n\"c\""
empty: ""
nothing: []
void: {}
list:
  - x
  - - 1
    - 2
  - a: 1
    b:
      c:
        - true
"odd key:": 0.5
)");
}

TEST(YamlTextTest, MeansTheSame) {
  const auto read = ReadYaml(YamlText(Example()), "text", 1 << 20);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToJson(*read), Example());
  EXPECT_EQ(YamlText(ordered_json::array()), "[]\n");
  EXPECT_EQ(YamlText(ordered_json::array({"a"})), "- a\n");
}

TEST(YamlTextTest, InvalidTextIsReplaced) {
  EXPECT_EQ(JsonText("a\xff"), "\"a\xef\xbf\xbd\"\n");
}

}  // namespace
}  // namespace paceline
