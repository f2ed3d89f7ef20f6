#include "common/config/field_table.h"

#include <array>
#include <cmath>
#include <limits>

#include "common/config/keras_object.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

enum class Padding { kValid, kSame };

absl::Span<const EnumName<Padding>> EnumNames(Padding) {
  static constexpr EnumName<Padding> kNames[] = {{Padding::kValid, "valid"},
                                                 {Padding::kSame, "same"}};
  return kNames;
}

struct Scale {
  double factor = 2;
};

absl::Status ReadConfig(const Value& value, const Path& path, Scale& out) {
  return Codec<double>::Read(value, path, out.factor);
}
Value WriteConfig(const Scale& scale) { return scale.factor; }

struct Base {
  virtual ~Base() = default;
  virtual int Kind() const = 0;
  std::string name;
};

struct Conv : Base {
  int Kind() const override { return 1; }
  static const FieldTable<Conv>& Fields();

  int64_t filters = 0;
  std::array<int64_t, 2> strides = {1, 1};
  Padding padding = Padding::kValid;
  double rate = 0.5;
  bool use_bias = true;
  std::optional<int64_t> seed;
  std::vector<int64_t> shape;
  Scale scale;
};

const FieldTable<Conv>& Conv::Fields() {
  static const auto& table = *new FieldTable<Conv>(
      "Conv", "A convolution.",
      {Optional("name", &Base::name, "Name of the layer."),
       Required("filters", &Conv::filters, AtLeast(1), "Number of filters."),
       Optional("strides", &Conv::strides, AtLeast(1), "Steps."),
       Optional("padding", &Conv::padding, "Padding."),
       Optional("rate", &Conv::rate, Within(0, 1), "Rate."),
       Optional("use_bias", &Conv::use_bias, "Whether there is a bias."),
       Optional("seed", &Conv::seed, "Seed."),
       Optional("shape", &Conv::shape, Above(0), "Shape."),
       Optional("scale", &Conv::scale, "Scale."),
       Only("data_format", "channels_last", "Layout."),
       Ignored("trainable", true, "Means nothing here."),
       NotYet("groups", "Groups.")});
  return table;
}

Value Map(const std::vector<std::pair<std::string, Value>>& entries) {
  Value::Map map;
  for (const auto& [key, value] : entries) map.push_back({key, value});
  return map;
}

TEST(FieldTable, ReadsEveryTypeOfMember) {
  const auto conv = Conv::Fields().Read(Map({{"name", "c"},
                                             {"filters", 32},
                                             {"strides", 2},
                                             {"padding", "same"},
                                             {"rate", 0},
                                             {"use_bias", false},
                                             {"seed", 7},
                                             {"shape", Value::List{1, 2.0}},
                                             {"scale", 1.5},
                                             {"data_format", "channels_last"},
                                             {"trainable", nullptr}}),
                                        Path("layer"));
  ASSERT_TRUE(conv.ok()) << conv.status();
  EXPECT_EQ(conv->name, "c");
  EXPECT_EQ(conv->filters, 32);
  EXPECT_EQ(conv->strides, (std::array<int64_t, 2>{2, 2}));
  EXPECT_EQ(conv->padding, Padding::kSame);
  EXPECT_EQ(conv->rate, 0);
  EXPECT_FALSE(conv->use_bias);
  EXPECT_EQ(conv->seed, 7);
  EXPECT_EQ(conv->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(conv->scale.factor, 1.5);
}

TEST(FieldTable, WritesWhatItReads) {
  Conv conv;
  conv.filters = 3;
  conv.strides = {1, 2};
  const Value written = Conv::Fields().Write(conv);
  EXPECT_EQ(written, Map({{"name", ""},
                          {"filters", 3},
                          {"strides", Value::List{1, 2}},
                          {"padding", "valid"},
                          {"rate", 0.5},
                          {"use_bias", true},
                          {"seed", nullptr},
                          {"shape", Value::List{}},
                          {"scale", 2.0},
                          {"data_format", "channels_last"},
                          {"trainable", true}}));
  const auto read = Conv::Fields().Read(written, Path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(Conv::Fields().Write(*read), written);
}

struct MalformedObject {
  Value value;
  absl::StatusCode code;
  std::string message;
};

TEST(FieldTable, ErrorsNamePathValueAndWhatIsExpected) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  const MalformedObject cases[] = {
      {3, kInvalid, "layer: expected a map (Conv), got 3"},
      {nullptr, kInvalid,
       "layer.filters: missing; expected integer, at least 1"},
      {Map({{"filter", 1}}), kInvalid,
       "layer.filter: unknown key; did you mean \"filters\"?"},
      {Map({{"dropout", 1}}), kInvalid,
       "layer.dropout: unknown key; known: name, filters"},
      {Map({{"filters", "ten"}}), kInvalid,
       "layer.filters: expected an integer, got \"ten\""},
      {Map({{"filters", 1.5}}), kInvalid,
       "layer.filters: expected an integer, got 1.5"},
      {Map({{"filters", 1e30}}), kInvalid,
       "layer.filters: expected an integer, got 1e+30"},
      {Map({{"filters", 0}}), kInvalid,
       "layer.filters: must be at least 1, got 0"},
      {Map({{"filters", 1}, {"strides", Value::List{1, 2, 3}}}), kInvalid,
       "layer.strides: expected an integer or a pair of integers, got [1,2,3]"},
      {Map({{"filters", 1}, {"strides", Value::List{1, 0}}}), kInvalid,
       "layer.strides[1]: must be at least 1, got 0"},
      {Map({{"filters", 1}, {"padding", "sane"}}), kInvalid,
       "layer.padding: expected one of valid, same, got \"sane\"; did you mean "
       "\"same\"?"},
      {Map({{"filters", 1}, {"rate", 1}}), kInvalid,
       "layer.rate: must be at least 0 and below 1, got 1"},
      {Map({{"filters", 1}, {"rate", std::nan("")}}), kInvalid,
       "layer.rate: expected a finite number, got .nan"},
      {Map({{"filters", 1}, {"use_bias", 1}}), kInvalid,
       "layer.use_bias: expected true or false, got 1"},
      {Map({{"filters", 1}, {"shape", Value::List{1, "a"}}}), kInvalid,
       "layer.shape[1]: expected an integer, got \"a\""},
      {Map({{"filters", 1}, {"scale", Value::Map{}}}), kInvalid,
       "layer.scale: expected a finite number, got an empty map"},
      {Map({{"filters", 1}, {"data_format", "channels_first"}}), kUnimplemented,
       "layer.data_format: \"channels_first\" is not supported yet; only "
       "\"channels_last\" is"},
      {Map({{"filters", 1}, {"groups", 2}}), kUnimplemented,
       "layer.groups: not supported yet"},
  };
  for (const MalformedObject& each : cases) {
    const absl::Status status =
        Conv::Fields().Read(each.value, Path("layer")).status();
    EXPECT_EQ(status.code(), each.code) << each.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(each.message));
  }
}

TEST(FieldTable, DocumentsItsKeys) {
  const std::string reference = Conv::Fields().Reference().markdown;
  EXPECT_THAT(reference, HasSubstr("### Conv\n\nA convolution.\n"));
  EXPECT_THAT(reference, HasSubstr("| `filters` | integer, at least 1 | "
                                   "required | Number of filters. |"));
  EXPECT_THAT(reference, HasSubstr("| `padding` | `valid`\\|`same` | "
                                   "`\"valid\"` | Padding. |"));
  EXPECT_THAT(reference, ::testing::Not(HasSubstr("groups")));
}

struct Sizes {
  std::optional<int64_t> one;
  std::optional<int64_t> all;
};

TEST(FieldTable, RefusesKeysThatExcludeEachOther) {
  const FieldTable<Sizes> table(
      "Sizes", "One of two.",
      {Optional("one", &Sizes::one, "Of one."),
       Excluding({"one"}, Optional("all", &Sizes::all, "Of all."))});
  EXPECT_EQ(
      table.Read(Map({{"all", 1}, {"one", 2}}), Path()).status().message(),
      "all: excludes one; expected one of them");
  EXPECT_EQ(table.Read(Map({{"all", 1}, {"one", nullptr}}), Path())->all, 1);
}

struct Message {
  int64_t epochs() const { return epochs_; }
  void set_epochs(int64_t epochs) { epochs_ = epochs; }

 private:
  int64_t epochs_ = 0;
};

TEST(FieldTable, ReachesMembersByFunctionsAndHasDefaultsOfItsOwn) {
  const FieldTable<Message> table(
      "Message", "A message.",
      {Optional(
          "epochs",
          Accessors<Message, int64_t>{&Message::epochs, &Message::set_epochs},
          AtLeast(1), "Passes.")},
      [] {
        Message message;
        message.set_epochs(1);
        return message;
      });
  EXPECT_EQ(table.Read(nullptr, Path())->epochs(), 1);
  EXPECT_EQ(table.Read(Map({{"epochs", 5}}), Path())->epochs(), 5);
  EXPECT_EQ(table.Read(Map({{"epochs", 0}}), Path()).status().message(),
            "epochs: must be at least 1, got 0");
  EXPECT_EQ(table.Write(*table.Read(nullptr, Path())), Map({{"epochs", 1}}));
}

struct Range {
  int64_t end = 0;
  int64_t begin = 3;
  std::optional<int64_t> step;
};

TEST(FieldTable, WritesWithoutDefaultsWhatAFieldMoreDoesNotChange) {
  const Field<Range> end = Required("end", &Range::end, "End.");
  const Field<Range> begin = Optional("begin", &Range::begin, "Begin.");
  const Field<Range> step = Optional("step", &Range::step, "Step.");
  const FieldTable<Range> before("Range", "", {end, begin});
  const FieldTable<Range> after("Range", "", {end, begin, step});
  EXPECT_EQ(before.Example(), "Range: {end: INTEGER}");

  // A required key is written even with its default.
  const Value shortest = Map({{"end", 0}});
  EXPECT_EQ(before.WriteWithoutDefaults({0, 3, {}}), shortest);
  EXPECT_EQ(after.WriteWithoutDefaults({0, 3, {}}), shortest);
  const Value longest = Map({{"end", 9}, {"begin", 0}, {"step", 2}});
  EXPECT_EQ(after.WriteWithoutDefaults({9, 0, 2}), longest);
  EXPECT_EQ(after.Read(longest, Path())->step, 2);
}

TEST(FieldTable, WritesKeysWhenTheTableSays) {
  const Field<Range> end = NotWritten<Range>(
      Required("end", &Range::end, "Not written even if it is required."));
  const Field<Range> begin =
      WrittenUnlessDefault<Range>(Optional("begin", &Range::begin, "Begin."));
  const Field<Range> step = WrittenAs<Range>(
      [](const Range& range) -> std::optional<Value> {
        return Value(range.step.value_or(range.end));
      },
      Optional("step", &Range::step, "Step."));
  const FieldTable<Range> table("Range", "", {end, begin, step});
  EXPECT_EQ(table.Write({9, 3, {}}), Map({{"step", 9}}));
  EXPECT_EQ(table.Write({9, 4, 2}), Map({{"begin", 4}, {"step", 2}}));
  EXPECT_EQ(table.Read(Map({{"end", 9}}), Path())->end, 9);
}

struct Names {
  FilePath one;
  std::optional<FilePath> other;
  std::vector<FilePath> more;
  std::string text = "text";
};

TEST(FieldTable, VisitsFilesWhereverTheyStand) {
  const FieldTable<Names> table(
      "Names", "Files.",
      {Required("one", &Names::one, "A file."),
       Optional("other",
                Accessors<Names, std::optional<FilePath>>{
                    [](const Names& names) { return names.other; },
                    [](Names& names, std::optional<FilePath> file) {
                      names.other = std::move(file);
                    }},
                "Perhaps a file."),
       Optional("more", &Names::more, "Files."),
       Optional("text", &Names::text, "No file.")});
  const Value value =
      Map({{"one", "a"}, {"other", "b"}, {"more", Value::List{"c", "d"}}});
  auto names = table.Read(value, Path());
  ASSERT_TRUE(names.ok()) << names.status();
  std::vector<std::string> seen;
  table.VisitFiles(*names, Path("of"),
                   [&seen](const Path& path, std::string& file) {
                     seen.push_back(path.text() + "=" + file);
                     file += "/x";
                   });
  EXPECT_THAT(seen, ::testing::ElementsAre("of.one=a", "of.other=b",
                                           "of.more[0]=c", "of.more[1]=d"));
  EXPECT_EQ(table.Write(*names), Map({{"one", "a/x"},
                                      {"other", "b/x"},
                                      {"more", Value::List{"c/x", "d/x"}},
                                      {"text", "text"}}));
  EXPECT_THAT(table.Reference().markdown,
              HasSubstr("| `one` | path | required | A file. |"));
}

}  // namespace
}  // namespace paceline
